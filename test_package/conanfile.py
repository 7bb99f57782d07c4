import io
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import load


class MusterTestConan(ConanFile):
    """Builds examples/minimal_host against the package; it prints what it promises."""

    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        # Below Muster's own build folder, which git ignores.
        cmake_layout(self, build_folder=os.path.join("..", "build", "test_package"))

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # leaves the source folder alone
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        printed = io.StringIO()
        self.run(os.path.join(self.build_folder, "bin", "minimal_host"), printed, env="conanrun")
        host = os.path.join(self.recipe_folder, "..", "examples", "minimal_host")
        if printed.getvalue() != load(self, os.path.join(host, "expected.txt")):
            raise ConanException(f"a different plan:\n{printed.getvalue()}")
