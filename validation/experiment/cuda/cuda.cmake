# SPDX-License-Identifier: Apache-2.0
# The CUDA backend: compiled and linked wherever nvcc is found, whether or not a device is there.
#   FLOORLINE_CUDA                 OFF leaves it out even where nvcc is
#   FLOORLINE_CUDA_ARCHITECTURES   as CMAKE_CUDA_ARCHITECTURES. Default: in a Release build every
#                                  architecture that nvcc lists from 7.0 on, and PTX of the newest;
#                                  elsewhere one, and PTX of the oldest, to keep the build short
option(FLOORLINE_CUDA "Build the CUDA backend where nvcc is found" ON)
set(FLOORLINE_CUDA_ARCHITECTURES "" CACHE STRING "Architectures of the CUDA backend")

# "75-real;80-real;…;121-real;121-virtual" of what this nvcc lists.
function(floorline_cuda_architectures result)
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-arch
    OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
  string(REGEX MATCHALL "compute_[0-9]+" names "${listed}")
  list(TRANSFORM names REPLACE "compute_" "")
  list(SORT names COMPARE NATURAL)
  list(FILTER names EXCLUDE REGEX "^[56].$")
  if(failed OR NOT names)
    message(FATAL_ERROR "nvcc --list-gpu-arch lists no architecture from 7.0 on")
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    list(GET names -1 newest)
    list(TRANSFORM names APPEND "-real")
    list(APPEND names "${newest}-virtual")
    set(${result} "${names}" PARENT_SCOPE)
  else()
    list(GET names 0 oldest)
    set(${result} "90-real;${oldest}-virtual" PARENT_SCOPE)
  endif()
endfunction()

include(CheckLanguage)
if(FLOORLINE_CUDA)
  # Known before the language is enabled, so that its own trial compiles something that exists.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  check_language(CUDA)
endif()
if(NOT FLOORLINE_CUDA OR NOT CMAKE_CUDA_COMPILER)
  message(STATUS "CUDA backend: not built (nvcc not found, or FLOORLINE_CUDA=OFF)")
  target_sources(floorline_validation PRIVATE experiment/cuda/cuda_absent.cpp)
  return()
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
if(NOT FLOORLINE_CUDA_ARCHITECTURES)
  floorline_cuda_architectures(FLOORLINE_CUDA_ARCHITECTURES)
endif()
message(STATUS "CUDA backend: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, ${FLOORLINE_CUDA_ARCHITECTURES}")

add_library(floorline_cuda OBJECT
  experiment/cuda/attention.cu
  experiment/cuda/chains.cu
  experiment/cuda/cublas_library.cpp
  experiment/cuda/cuda_backend.cpp
  experiment/cuda/cuda_experiment.cpp
  experiment/cuda/device_memory.cpp
  experiment/cuda/host_copy.cpp
  experiment/cuda/matrix.cu
  experiment/cuda/normalization.cu
  experiment/cuda/overlap.cu
  experiment/cuda/peers.cpp
  experiment/cuda/reductions.cu
  experiment/cuda/softmax.cu
  experiment/cuda/streams.cu)
set_target_properties(floorline_cuda PROPERTIES
  CUDA_ARCHITECTURES "${FLOORLINE_CUDA_ARCHITECTURES}")
target_link_libraries(floorline_cuda PRIVATE floorline_build)
target_include_directories(floorline_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
# Kernels are optimized whatever the build: their times are what they are for. The standard by its
# flag: CMake 3.25 does not know it of CUDA 13.
target_compile_options(floorline_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-O3;-std=c++20>")
target_sources(floorline_validation PRIVATE $<TARGET_OBJECTS:floorline_cuda>)
target_link_libraries(floorline_validation PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
