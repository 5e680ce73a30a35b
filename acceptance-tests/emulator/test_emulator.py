"""What the emulator promises beyond moto, checked through boto3.

Run inside its environment, with EMULATOR_URL set: `python -m unittest test_emulator`. The Rust tests do so.
"""

import io
import itertools
import json
import os
import unittest
import urllib.request
import uuid

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

URL = os.environ["EMULATOR_URL"]
ACCOUNTS = itertools.count(900000000001)


class Account(unittest.TestCase):
    """A test with an account and a seeded cluster of its own."""

    def setUp(self):
        self.account = str(next(ACCOUNTS))
        self.control("settings", polls=0)
        self.seeded = self.control("seed-cluster")

    def client(self, service):
        """A client of this account that never retries."""
        config = Config(retries={"total_max_attempts": 1})
        client = boto3.client(service, region_name="us-east-1", endpoint_url=URL, aws_access_key_id="test", aws_secret_access_key="test", config=config)
        client.meta.events.register("before-sign.*.*", lambda request, **_: request.headers.add_header("x-moto-account-id", self.account))
        return client

    def control(self, command, method="POST", **body):
        """Call the control endpoint."""
        data = json.dumps(body).encode() if method == "POST" else None
        request = urllib.request.Request(f"{URL}/mlplat/{command}", data=data, method=method, headers={"x-moto-account-id": self.account})
        return json.load(urllib.request.urlopen(request))

    def inventory(self):
        """What exists in this account."""
        return self.control("inventory", "GET")

    def refused(self, code, call, **arguments):
        """The call fails with this code."""
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)

    def nodegroup(self, **changes):
        """Parameters of a good node group."""
        return {
            "clusterName": "ml-prod",
            "nodegroupName": "gpu",
            "nodeRole": self.seeded["node_role_arn"],
            "subnets": self.seeded["subnet_ids"],
            "instanceTypes": ["g5.xlarge"],
            "amiType": "AL2023_x86_64_NVIDIA",
            "scalingConfig": {"minSize": 1, "maxSize": 4, "desiredSize": 2},
            **changes,
        }


class Nodegroups(Account):
    def test_transitions_last_the_ordered_number_of_polls(self):
        self.control("settings", polls=2)
        eks = self.client("eks")
        eks.create_nodegroup(**self.nodegroup())
        name = {"clusterName": "ml-prod", "nodegroupName": "gpu"}
        states = [eks.describe_nodegroup(**name)["nodegroup"]["status"] for _ in range(3)]
        self.assertEqual(states, ["CREATING", "CREATING", "ACTIVE"])
        update = eks.update_nodegroup_config(**name, scalingConfig={"maxSize": 9})["update"]
        self.refused("ResourceInUseException", eks.update_nodegroup_config, **name, scalingConfig={"maxSize": 8})
        states = [eks.describe_update(name="ml-prod", nodegroupName="gpu", updateId=update["id"])["update"]["status"] for _ in range(3)]
        self.assertEqual(states, ["InProgress", "InProgress", "Successful"])
        eks.delete_nodegroup(**name)
        states = [eks.describe_nodegroup(**name)["nodegroup"]["status"] for _ in range(2)]
        self.assertEqual(states, ["DELETING", "DELETING"])
        self.refused("ResourceNotFoundException", eks.describe_nodegroup, **name)

    def test_what_was_given_comes_back_and_a_deletion_leaves_nothing(self):
        before, eks = self.inventory(), self.client("eks")
        wanted = {"updateConfig": {"maxUnavailable": 2}, "nodeRepairConfig": {"enabled": True}, "tags": {"a": "1"}}
        eks.create_nodegroup(**self.nodegroup(**wanted))
        found = eks.describe_nodegroup(clusterName="ml-prod", nodegroupName="gpu")["nodegroup"]
        self.assertEqual({key: found[key] for key in wanted}, wanted)
        self.assertEqual(found["version"], "1.36")
        self.assertTrue(found["releaseVersion"].startswith("1.36."))
        eks.tag_resource(resourceArn=found["nodegroupArn"], tags={"b": "2"})
        eks.untag_resource(resourceArn=found["nodegroupArn"], tagKeys=["a"])
        self.assertEqual(eks.list_tags_for_resource(resourceArn=found["nodegroupArn"])["tags"], {"b": "2"})
        eks.delete_nodegroup(clusterName="ml-prod", nodegroupName="gpu")
        self.assertEqual(self.inventory(), before)

    def test_the_same_token_answers_the_same_node_group(self):
        eks = self.client("eks")
        wanted = self.nodegroup(clientRequestToken="once")
        first = eks.create_nodegroup(**wanted)["nodegroup"]["nodegroupArn"]
        self.assertEqual(eks.create_nodegroup(**wanted)["nodegroup"]["nodegroupArn"], first)
        self.refused("ResourceInUseException", eks.create_nodegroup, **self.nodegroup(clientRequestToken="twice"))

    def test_the_scaling_group_is_real_and_the_live_size_moves(self):
        eks, scaling = self.client("eks"), self.client("autoscaling")
        eks.create_nodegroup(**self.nodegroup())
        found = eks.describe_nodegroup(clusterName="ml-prod", nodegroupName="gpu")["nodegroup"]
        name = found["resources"]["autoScalingGroups"][0]["name"]
        tag = {"ResourceId": name, "ResourceType": "auto-scaling-group", "Key": "k", "Value": "v", "PropagateAtLaunch": False}
        scaling.create_or_update_tags(Tags=[tag])
        self.control("resize", cluster="ml-prod", nodegroup="gpu", desired=4)
        group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"][0]
        self.assertEqual((group["MinSize"], group["MaxSize"], group["DesiredCapacity"], len(group["Instances"])), (1, 4, 4, 4))
        self.assertIn(("k", "v"), [(item["Key"], item["Value"]) for item in group["Tags"]])
        found = eks.describe_nodegroup(clusterName="ml-prod", nodegroupName="gpu")["nodegroup"]
        self.assertEqual(found["scalingConfig"]["desiredSize"], 4)
        self.refused("ValidationError", scaling.create_or_update_tags, Tags=[{**tag, "ResourceId": "absent"}])

    def test_an_ordered_failure_shows_its_health_issues_once(self):
        issue = {"code": "InsufficientFreeAddresses", "message": "no address", "resourceIds": ["subnet-1"]}
        self.control("fail-nodegroup", nodegroup="gpu", status="CREATE_FAILED", issues=[issue])
        eks, name = self.client("eks"), {"clusterName": "ml-prod", "nodegroupName": "gpu"}
        eks.create_nodegroup(**self.nodegroup())
        found = eks.describe_nodegroup(**name)["nodegroup"]
        self.assertEqual((found["status"], found["health"]["issues"]), ("CREATE_FAILED", [issue]))
        eks.delete_nodegroup(**name)
        eks.create_nodegroup(**self.nodegroup())
        self.assertEqual(eks.describe_nodegroup(**name)["nodegroup"]["status"], "ACTIVE")
        self.control("degrade-nodegroup", cluster="ml-prod", nodegroup="gpu", issues=[issue])
        self.assertEqual(eks.describe_nodegroup(**name)["nodegroup"]["status"], "DEGRADED")

    def test_what_eks_refuses_is_refused(self):
        create = self.client("eks").create_nodegroup
        template = self.client("ec2").create_launch_template(LaunchTemplateName="t", LaunchTemplateData={"InstanceType": "g5.xlarge"})
        identifier = template["LaunchTemplate"]["LaunchTemplateId"]
        wrong = [
            {"amiType": "AL9"},
            {"subnets": ["subnet-absent"]},
            {"scalingConfig": {"minSize": 5, "maxSize": 4, "desiredSize": 4}},
            {"launchTemplate": {"id": identifier}},
            {"launchTemplate": {"id": "lt-absent"}},
            {"instanceTypes": ["g5g.xlarge"]},
            {"instanceTypes": ["x9.huge"]},
            {"labels": {"kubernetes.io/role": "gpu"}},
            {"nodeRole": f"arn:aws:iam::{self.account}:role/absent"},
        ]
        for change in wrong:
            with self.subTest(change):
                self.refused("InvalidParameterException", create, **self.nodegroup(**change))
        bare = self.client("ec2").create_launch_template(LaunchTemplateName="u", LaunchTemplateData={"EbsOptimized": True})
        both = {"launchTemplate": {"id": bare["LaunchTemplate"]["LaunchTemplateId"]}, "diskSize": 50}
        self.refused("InvalidParameterException", create, **self.nodegroup(**both))

    def test_a_launch_template_version_is_followed(self):
        ec2, eks = self.client("ec2"), self.client("eks")
        made = ec2.create_launch_template(LaunchTemplateName="t", LaunchTemplateData={"EbsOptimized": True})["LaunchTemplate"]
        identifier, name = made["LaunchTemplateId"], {"clusterName": "ml-prod", "nodegroupName": "gpu"}
        eks.create_nodegroup(**self.nodegroup(launchTemplate={"id": identifier, "version": "1"}))
        found = eks.describe_nodegroup(**name)["nodegroup"]
        self.assertEqual(found["launchTemplate"], {"id": identifier, "name": "t", "version": "1"})
        self.assertNotIn("diskSize", found)
        ec2.create_launch_template_version(LaunchTemplateId=identifier, SourceVersion="1", LaunchTemplateData={"KeyName": "k"})
        eks.update_nodegroup_version(**name, launchTemplate={"id": identifier, "version": "2"})
        self.assertEqual(eks.describe_nodegroup(**name)["nodegroup"]["launchTemplate"]["version"], "2")


class Clusters(Account):
    def test_the_seeded_cluster_is_complete(self):
        found = self.client("eks").describe_cluster(name="ml-prod")["cluster"]
        self.assertEqual((found["status"], found["version"]), ("ACTIVE", "1.36"))
        self.assertEqual(len(found["resourcesVpcConfig"]["subnetIds"]), 3)
        self.assertIn("clusterSecurityGroupId", found["resourcesVpcConfig"])
        self.assertEqual(found["accessConfig"]["authenticationMode"], "API_AND_CONFIG_MAP")

    def test_access_entries_pod_identity_and_addons_live_and_go(self):
        before, eks = self.inventory(), self.client("eks")
        role, cluster = f"arn:aws:iam::{self.account}:role/team/r", {"clusterName": "ml-prod"}
        policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
        eks.create_access_entry(**cluster, principalArn=role)
        eks.associate_access_policy(**cluster, principalArn=role, policyArn=policy, accessScope={"type": "cluster"})
        listed = eks.list_associated_access_policies(**cluster, principalArn=role)["associatedAccessPolicies"]
        self.assertEqual([item["policyArn"] for item in listed], [policy])
        eks.disassociate_access_policy(**cluster, principalArn=role, policyArn=policy)
        eks.delete_access_entry(**cluster, principalArn=role)
        made = eks.create_pod_identity_association(**cluster, namespace="ml", serviceAccount="s", roleArn=role)["association"]
        eks.delete_pod_identity_association(**cluster, associationId=made["associationId"])
        eks.create_addon(**cluster, addonName="vpc-cni")
        self.assertEqual(eks.describe_addon(**cluster, addonName="vpc-cni")["addon"]["status"], "ACTIVE")
        eks.delete_addon(**cluster, addonName="vpc-cni")
        self.assertEqual(self.inventory(), before)

    def test_deleting_a_cluster_leaves_no_security_group(self):
        self.client("eks").delete_cluster(name="ml-prod")
        self.assertFalse([key for key in self.inventory() if "security-group" in key or "eks:" in key])


class Buckets(Account):
    def setUp(self):
        super().setUp()
        self.s3 = self.client("s3")
        self.bucket = {"Bucket": "acme-models"}
        self.s3.create_bucket(**self.bucket)

    def test_the_same_name_is_free_in_another_account(self):
        self.account = str(next(ACCOUNTS))
        self.refused("404", self.client("s3").head_bucket, **self.bucket)
        self.client("s3").create_bucket(**self.bucket)

    def test_a_strangers_bucket_is_forbidden_and_taken(self):
        self.control("stranger-bucket", name="taken-name")
        self.refused("403", self.s3.head_bucket, Bucket="taken-name")
        self.refused("BucketAlreadyExists", self.s3.create_bucket, Bucket="taken-name")

    def test_a_new_bucket_has_todays_defaults(self):
        rule = self.s3.get_bucket_encryption(**self.bucket)["ServerSideEncryptionConfiguration"]["Rules"][0]
        self.assertEqual(rule["ApplyServerSideEncryptionByDefault"], {"SSEAlgorithm": "AES256"})
        self.assertTrue(all(self.s3.get_public_access_block(**self.bucket)["PublicAccessBlockConfiguration"].values()))
        controls = self.s3.get_bucket_ownership_controls(**self.bucket)["OwnershipControls"]
        self.assertEqual(controls["Rules"][0]["ObjectOwnership"], "BucketOwnerEnforced")

    def test_lifecycle_rules_come_back_whole(self):
        rule = {
            "ID": "old",
            "Status": "Enabled",
            "Filter": {"And": {"Prefix": "checkpoints/", "ObjectSizeGreaterThan": 1024}},
            "Expiration": {"Days": 30},
            "NoncurrentVersionExpiration": {"NoncurrentDays": 1, "NewerNoncurrentVersions": 2},
        }
        self.s3.put_bucket_lifecycle_configuration(**self.bucket, LifecycleConfiguration={"Rules": [rule]})
        self.assertEqual(self.s3.get_bucket_lifecycle_configuration(**self.bucket)["Rules"], [rule])
        self.refused("InvalidArgument", self.s3.put_bucket_lifecycle_configuration, **self.bucket, LifecycleConfiguration={"Rules": [rule, rule]})
        self.s3.delete_bucket_lifecycle(**self.bucket)
        self.refused("NoSuchLifecycleConfiguration", self.s3.get_bucket_lifecycle_configuration, **self.bucket)

    def test_deleting_a_sub_resource_keeps_the_bucket(self):
        self.refused("NoSuchConfiguration", self.s3.delete_bucket_intelligent_tiering_configuration, **self.bucket, Id="x")
        self.refused("NoSuchConfiguration", self.s3.delete_bucket_metrics_configuration, **self.bucket, Id="x")
        self.s3.delete_bucket_inventory_configuration(**self.bucket, Id="x")
        self.s3.head_bucket(**self.bucket)

    def test_tags_keep_an_empty_value_and_versions_are_counted(self):
        self.s3.put_bucket_tagging(**self.bucket, Tagging={"TagSet": [{"Key": "a", "Value": ""}]})
        self.assertEqual(self.s3.get_bucket_tagging(**self.bucket)["TagSet"], [{"Key": "a", "Value": ""}])
        self.s3.put_bucket_versioning(**self.bucket, VersioningConfiguration={"Status": "Enabled"})
        for _ in range(2):
            self.s3.put_object(**self.bucket, Key="k", Body=io.BytesIO(b"x"))
        self.assertEqual(self.inventory()["s3:bucket/acme-models"], {"tags": {"a": ""}, "versions": 2, "uploads": 0})
        self.refused("BucketNotEmpty", self.s3.delete_bucket, **self.bucket)
        self.refused("MalformedPolicy", self.s3.put_bucket_policy, **self.bucket, Policy="{")

    def test_a_policy_names_only_roles_that_exist(self):
        def policy(role):
            allow = {"Effect": "Allow", "Principal": {"AWS": role}, "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme-models/*"}
            return json.dumps({"Version": "2012-10-17", "Statement": [allow]})

        absent = f"arn:aws:iam::{self.account}:role/absent"
        self.refused("MalformedPolicy", self.s3.put_bucket_policy, **self.bucket, Policy=policy(absent))
        self.s3.put_bucket_policy(**self.bucket, Policy=policy(self.seeded["node_role_arn"]))


class Others(Account):
    def test_launch_templates_keep_tags_apart_and_know_tokens(self):
        ec2 = self.client("ec2")
        spec = [{"ResourceType": "launch-template", "Tags": [{"Key": "a", "Value": "1"}]}]
        wanted = {"LaunchTemplateName": "t", "ClientToken": "once", "TagSpecifications": spec, "LaunchTemplateData": {"EbsOptimized": True}}
        made = ec2.create_launch_template(**wanted)["LaunchTemplate"]
        self.assertEqual(ec2.create_launch_template(**wanted)["LaunchTemplate"]["LaunchTemplateId"], made["LaunchTemplateId"])
        identifier = {"LaunchTemplateId": made["LaunchTemplateId"]}
        self.assertEqual(ec2.describe_launch_template_versions(**identifier)["LaunchTemplateVersions"][0]["LaunchTemplateData"], {"EbsOptimized": True})
        ec2.create_tags(Resources=[made["LaunchTemplateId"]], Tags=[{"Key": "b", "Value": "2"}])
        tags = ec2.describe_launch_templates()["LaunchTemplates"][0]["Tags"]
        self.assertEqual(sorted(tag["Key"] for tag in tags), ["a", "b"])
        ec2.create_launch_template_version(**identifier, SourceVersion="1", LaunchTemplateData={"KeyName": "k"})
        latest = ec2.describe_launch_template_versions(**identifier, Versions=["$Latest"])["LaunchTemplateVersions"][0]
        self.assertEqual(latest["LaunchTemplateData"], {"EbsOptimized": True, "KeyName": "k"})
        ec2.modify_launch_template(**identifier, DefaultVersion="2")
        gone = ec2.delete_launch_template_versions(**identifier, Versions=["1"])
        self.assertEqual(len(gone["SuccessfullyDeletedLaunchTemplateVersions"]), 1)
        self.assertEqual([item["VersionNumber"] for item in ec2.describe_launch_template_versions(**identifier)["LaunchTemplateVersions"]], [2])
        ec2.delete_launch_template(**identifier)
        self.refused("InvalidLaunchTemplateId.NotFound", ec2.describe_launch_templates, LaunchTemplateIds=[made["LaunchTemplateId"]])

    def test_node_policies_attach_and_a_policy_in_use_stays(self):
        iam, role = self.client("iam"), {"RoleName": "ml-prod-nodes"}
        for name in ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy", "AmazonSSMManagedInstanceCore", "service-role/AmazonEBSCSIDriverPolicy"):
            iam.attach_role_policy(**role, PolicyArn=f"arn:aws:iam::aws:policy/{name}")
        self.assertEqual(len(iam.list_attached_role_policies(**role)["AttachedPolicies"]), 5)
        document = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})
        arn = iam.create_policy(PolicyName="own", PolicyDocument=document)["Policy"]["Arn"]
        iam.attach_role_policy(**role, PolicyArn=arn)
        self.refused("DeleteConflict", iam.delete_policy, PolicyArn=arn)

    def test_file_systems_know_their_tokens_and_policies(self):
        efs = self.client("efs")
        made = efs.create_file_system(CreationToken="shared", Encrypted=True, Tags=[{"Key": "a", "Value": "1"}])["FileSystemId"]
        with self.assertRaises(ClientError) as caught:
            efs.create_file_system(CreationToken="shared")
        self.assertEqual(caught.exception.response["Error"]["Code"], "FileSystemAlreadyExists")
        self.assertEqual(caught.exception.response["FileSystemId"], made)
        efs.update_file_system(FileSystemId=made, ThroughputMode="provisioned", ProvisionedThroughputInMibps=64)
        found = efs.describe_file_systems(FileSystemId=made)["FileSystems"][0]
        self.assertEqual((found["ThroughputMode"], found["ProvisionedThroughputInMibps"]), ("provisioned", 64))
        efs.put_backup_policy(FileSystemId=made, BackupPolicy={"Status": "DISABLED"})
        self.assertEqual(efs.describe_backup_policy(FileSystemId=made)["BackupPolicy"]["Status"], "DISABLED")
        efs.put_file_system_policy(FileSystemId=made, Policy="{}")
        efs.delete_file_system_policy(FileSystemId=made)
        self.refused("PolicyNotFound", efs.describe_file_system_policy, FileSystemId=made)
        point = efs.create_access_point(ClientToken="p", FileSystemId=made)["AccessPointId"]
        self.refused("AccessPointAlreadyExists", efs.create_access_point, ClientToken="p", FileSystemId=made)
        self.refused("FileSystemInUse", efs.delete_file_system, FileSystemId=made)
        efs.delete_access_point(AccessPointId=point)
        efs.delete_file_system(FileSystemId=made)

    def test_capacity_is_reserved_grouped_and_offered_in_blocks(self):
        ec2 = self.client("ec2")
        ec2.create_placement_group(GroupName="pg", Strategy="cluster")
        self.assertEqual(ec2.describe_placement_groups(GroupNames=["pg"])["PlacementGroups"][0]["Strategy"], "cluster")
        self.refused("InvalidPlacementGroup.Duplicate", ec2.create_placement_group, GroupName="pg", Strategy="cluster")
        ec2.delete_placement_group(GroupName="pg")
        wanted = {"InstanceType": "p5.48xlarge", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": "us-east-1a", "InstanceCount": 2}
        made = ec2.create_capacity_reservation(**wanted)["CapacityReservation"]["CapacityReservationId"]
        self.assertEqual(ec2.describe_capacity_reservations(CapacityReservationIds=[made])["CapacityReservations"][0]["TotalInstanceCount"], 2)
        ec2.cancel_capacity_reservation(CapacityReservationId=made)
        self.refused("InvalidCapacityReservationId.NotFound", ec2.describe_capacity_reservations, CapacityReservationIds=["cr-absent"])
        offer = ec2.describe_capacity_block_offerings(InstanceType="p5.48xlarge", InstanceCount=1, CapacityDurationHours=24)["CapacityBlockOfferings"][0]
        block = ec2.purchase_capacity_block(CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX")
        self.assertEqual(block["CapacityReservation"]["ReservationType"], "capacity-block")
        self.assertTrue(ec2.get_spot_placement_scores(TargetCapacity=1)["SpotPlacementScores"])

    def test_quotas_prices_images_and_offerings_answer(self):
        quotas = self.client("service-quotas")
        self.control("settings", quotas={"L-DB2E81BA": 8})
        self.assertEqual(quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-DB2E81BA")["Quota"]["Value"], 8)
        self.assertEqual(quotas.get_aws_default_service_quota(ServiceCode="ec2", QuotaCode="L-DB2E81BA")["Quota"]["Value"], 768)
        filters = [{"Type": "TERM_MATCH", "Field": "instanceType", "Value": "g5.xlarge"}]
        self.assertIn("1.006", self.client("pricing").get_products(ServiceCode="AmazonEC2", Filters=filters)["PriceList"][0])
        name = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/nvidia/recommended/release_version"
        self.assertEqual(self.client("ssm").get_parameter(Name=name)["Parameter"]["Value"], "1.36.0-20261101")
        self.assertEqual(self.client("ssm").get_parameters(Names=[name, "/absent"])["InvalidParameters"], ["/absent"])
        offered = self.client("ec2").describe_instance_type_offerings(LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": ["g5.*"]}])
        self.assertTrue(offered["InstanceTypeOfferings"])

    def test_an_unknown_operation_is_an_error_with_a_code(self):
        self.refused("NotImplemented", self.client("iam").simulate_principal_policy, PolicySourceArn="arn:aws:iam::1:role/r", ActionNames=["s3:Get"])

    def test_a_forgotten_account_is_empty(self):
        self.client("s3").create_bucket(Bucket=f"b-{uuid.uuid4().hex[:8]}")
        self.control("forget")
        self.assertEqual(self.inventory(), {})


if __name__ == "__main__":
    unittest.main()
