# SPDX-License-Identifier: Apache-2.0
# The files of a folder compiled as one: most of a sanitized build is headers and templates, the same
# for every file. On in the asan preset only. `dev` compiles each file alone and so sees a header
# that lacks its own includes, and rebuilds only what was edited.
option(FLOORLINE_UNITS "Compile the files of a folder as one source (asan preset)" OFF)

# At the end of the folder that defines the target. Units are chosen when CMake runs: if an edit makes
# two files of a unit contradict each other, `cmake --preset asan` sorts them anew.
function(floorline_folders_as_units target)
  if(NOT FLOORLINE_UNITS)
    return()
  endif()
  find_program(FLOORLINE_UNITS_PYTHON python3 REQUIRED DOC "Any python3")
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^$]*[.]cpp$")
  execute_process(
    COMMAND "${FLOORLINE_UNITS_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/asan/units.py"
      "${CMAKE_CURRENT_SOURCE_DIR}" ${sources}
    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REPLACE "=" ";" file_and_unit "${line}")
    list(GET file_and_unit 0 file)
    list(GET file_and_unit 1 unit)
    set_source_files_properties("${file}" PROPERTIES UNITY_GROUP "${unit}")
  endforeach()
  # A file with compile options of its own stays alone.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
