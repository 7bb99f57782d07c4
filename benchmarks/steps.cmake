muster_benchmark(steps_benchmark
  SOURCES step_search.cc step_world.cc steps_fabric.cc steps_pass.cc
          steps_preempt.cc steps_solver.cc)
