# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=<build> -P check.cmake
# Installs into a temporary prefix outside the source tree and runs the program from elsewhere. One
# device is added to the installed data only, so the answer shows which data was read.
set(temporary "$ENV{TMPDIR}")
if(NOT temporary)
  set(temporary "/tmp")
endif()
string(RANDOM LENGTH 12 suffix)
set(prefix "${temporary}/floorline-install-${suffix}")

function(fail text)
  file(REMOVE_RECURSE "${prefix}")
  message(FATAL_ERROR "${text}")
endfunction()

execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}"
  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  fail("installing failed: ${errors}")
endif()

set(share "${prefix}/share/floorline")
file(GLOB_RECURSE others RELATIVE "${prefix}" "${share}/*")
list(FILTER others EXCLUDE REGEX "\\.(toml|json|csv)$")
if(others)
  fail("installed, but not data: ${others}")
endif()

if(NOT EXISTS "${share}/devices/h100_sxm.toml")
  fail("no devices/h100_sxm.toml was installed")
endif()
file(READ "${share}/devices/h100_sxm.toml" device)
string(REPLACE "\"h100_sxm\"" "\"installed_only\"" device "${device}")
file(WRITE "${share}/devices/installed_only.toml" "${device}")
execute_process(COMMAND "${prefix}/bin/floorline" devices WORKING_DIRECTORY "${prefix}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status EQUAL 0 OR NOT output MATCHES "installed_only")
  fail("the installed program did not list its own devices (exit ${status}):\n${output}${errors}")
endif()
file(REMOVE_RECURSE "${prefix}")
