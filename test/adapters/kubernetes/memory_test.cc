// What is gone is forgotten.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {
namespace {

void AddRarities(const std::string& n, FakeApi* api) {
  api::CompositePodGroup composite;
  composite.meta.name = "c" + n;
  composite.min_group_count = 1;
  api->Put(composite);
  api::PodGroup part;
  part.meta.name = "p" + n;
  part.parent = "c" + n;
  api->Put(part);
  api->AddPod({.name = "part" + n, .group = "p" + n});
  api::Owner owner;
  owner.meta.name = "o" + n;
  owner.kind = "TFJob";
  owner.roles = {{"Worker", 1, {}}};
  api->Put(owner);
  api->AddPod({.name = "odd" + n});
  api->EditPod("odd" + n, [&](api::Pod& pod) {
    pod.requests["example.com/r" + n] = 1'000;
  });
}

// Pods and groups of every kind, each another one than all before.
void AddSome(int i, FakeApi* api) {
  const std::string n = absl::StrCat(i);
  api->AddPod({.name = "plain" + n, .milli_cpu = i});
  api->AddPod({.name = "lost" + n, .labels = {{kQueueLabel, "none"}}});
  api->AddPod({.name = "orphan" + n, .group = "none" + n});
  api->AddPod({.name = "other" + n, .scheduler = "other"});
  api->BindBehind("other" + n, "n");
  api->storage.AddClaim("c" + n, "made");
  api->AddPod({.name = "claims" + n, .claims = {"c" + n}});
  api->AddPod({.name = "scratch" + n, .ephemeral = {"v"}});
  api->AddGroup("g" + n, 1);
  api->AddPod({.name = "member" + n, .group = "g" + n});
  AddRarities(n, api);
  api::Owner job;
  job.meta = {.name = "j" + n, .namespace_name = "default"};
  job.meta.uid = "job-j" + n;
  api->Put(job);
}

void RemoveSome(int i, FakeApi* api) {
  const std::string n = absl::StrCat(i);
  for (const char* name : {"plain", "lost", "orphan", "other", "member",
                           "claims", "scratch", "part", "odd"}) {
    api->DeletePod(name + n);
  }
  api->RemoveGroup(GroupKind::kPodGroup, "p" + n);
  api->RemoveGroup(GroupKind::kCompositeGroup, "c" + n);
  api->RemoveGroup(GroupKind::kOwner, "TFJob/o" + n);
  const std::string volume = api->storage.VolumeOf("c" + n);
  if (!volume.empty()) api->storage.RemoveVolume(volume);
  api->storage.RemoveClaim("c" + n);
  api->RemoveGroup("g" + n);
  api->controller().observer().JobGone("default", "job-j" + n);
}

TEST(MemoryTest, PodsGroupsAndJobsThatAreGoneAreForgotten) {
  FakeApi api;
  api.AddNode("n", 4);
  api.storage.PutClass("made", true);
  // So that there are nodes that were tried in vain.
  api.storage.provisioning = [](const std::string&) {
    return FakeStorage::Provisioning::kFails;
  };
  for (int i = 1; i <= 2'000; ++i) {
    AddSome(i, &api);
    api.Pass(kSecond);
    RemoveSome(i, &api);
    api.Pass(kSecond);
  }
  api.Pass(2'000 * kSecond);
  ControllerCounts counts = api.controller().counts();
  EXPECT_LE(counts.roles, 1'100u);
  counts.roles = 0;
  EXPECT_EQ(counts, ControllerCounts());
  EXPECT_TRUE(api.controller().scheduler().State().gangs.empty());
}

TEST(MemoryTest, AGroupWithoutPodsIsRememberedForAWhile) {
  FakeApi api;
  api.AddNode("n", 4);
  api.AddPod({.name = "w",
              .labels = {{kPodGroupLabel, "g"}},
              .annotations = {{kMinPodsAnnotation, "1"}}});
  api.Settle();
  api.DeletePod("w");
  api.Settle();
  api.Pass(599 * kSecond);
  EXPECT_EQ(api.controller().counts().groups, 1u);
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.controller().counts().groups, 0u);
}

}  // namespace
}  // namespace muster::kubernetes
