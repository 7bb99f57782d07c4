import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import supported_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import load


class MusterConan(ConanFile):
    name = "muster"
    description = "An embeddable scheduling core for gangs on scarce accelerators"
    license = "Apache-2.0"
    topics = ("scheduler", "gang-scheduling", "gpu", "preemption", "topology")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "wire": [True, False], "graphml": [True, False],
               "workload": [True, False]}
    default_options = {"shared": False, "wire": True, "graphml": True, "workload": False}
    exports_sources = "CMakeLists.txt", "LICENSE", "THIRD-PARTY-NOTICES", "cmake/*", "include/*", "lib/*", "proto/*"

    def set_version(self):
        text = load(self, f"{self.recipe_folder}/include/muster/version.h")
        self.version = re.search(r'MUSTER_VERSION "([0-9.]+)"', text).group(1)

    def requirements(self):
        self.requires("abseil/[>=20220623]", transitive_headers=True)
        self.requires("boost/[>=1.74]", libs=False, visible=False)
        if self.options.wire:
            self.requires("protobuf/[>=3.21]", transitive_headers=True)
        if self.options.graphml:
            self.requires("pugixml/[>=1.13]")
        if self.options.workload:
            self.requires("yaml-cpp/[>=0.7]")

    def build_requirements(self):
        if self.options.wire:
            self.tool_requires("protobuf/<host_version>")

    def validate(self):
        # Not what the profile has chosen (gnu17 where Conan detects one), but what
        # the compiler can: the targets ask for C++20 themselves.
        if "20" not in supported_cppstd(self):
            raise ConanInvalidConfiguration("muster needs a compiler with C++20")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["MUSTER_WIRE"] = bool(self.options.wire)
        toolchain.cache_variables["MUSTER_GRAPHML"] = bool(self.options.graphml)
        toolchain.cache_variables["MUSTER_WORKLOAD"] = bool(self.options.workload)
        for option in ("TOOLS", "TESTS", "BENCHMARKS", "EXAMPLES", "WERROR"):
            toolchain.cache_variables[f"MUSTER_{option}"] = False
        toolchain.user_presets_path = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # Consumers use the package's own muster-config.cmake.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/muster"]
        parts = [part for part in ("wire", "graphml", "workload") if self.options.get_safe(part)]
        self.cpp_info.libs = [f"muster_{part}" for part in (*parts, "core")]
