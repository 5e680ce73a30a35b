//! What a failed call is taken for, from what really came over the wire.

use acceptance_tests::Rule;
use converge::{AnyCreation, Component, Drivers, Fault, FaultClass, Ownership};
use mlplat::{
    components::aws::{Bucket, IamRole, LaunchTemplate, NodeGroup},
    drivers::aws::register,
};

use crate::world::{World, aws_at, block_on, document, run};

fn bucket() -> Bucket {
    Bucket { name: "faulty".to_owned(), ..Bucket::default() }
}

async fn observe<C: Component>(world: &World, spec: &C) -> Fault {
    let driver = world.subject::<C>().driver;
    driver.observe(&world.cx, &document(spec)).await.expect_err("the call fails")
}

async fn create<C: Component>(world: &World, spec: &C) -> Fault {
    let creation = AnyCreation { owner: &world.owner, token: "0".repeat(64), previous: None };
    let driver = world.subject::<C>().driver;
    driver.create(&world.cx, &document(spec), creation).await.expect_err("the call fails")
}

#[test]
fn a_write_whose_answer_was_lost_may_have_taken_effect() {
    run(async |world| {
        world.account.proxy().add_rule(Rule::on("s3.CreateBucket").drop_after());
        assert_eq!(create(world, &bucket()).await.class, FaultClass::MaybeSent);
        world.account.proxy().clear_rules();
        let found = world.subject::<Bucket>().observe(&document(&bucket())).await.expect("it was made");
        assert_eq!(found.ownership, Ownership::Marked(world.owner.clone()), "marked from the first call on");
    });
}

#[test]
fn a_read_whose_answer_was_lost_is_made_again() {
    run(async |world| {
        world.account.proxy().add_rule(Rule::on("s3.GetBucketTagging").drop_before());
        assert_eq!(observe(world, &bucket()).await.class, FaultClass::Unavailable);
        world.account.proxy().clear_rules();
        world.account.proxy().add_rule(Rule::on("eks.DescribeNodegroup").truncate());
        let group = NodeGroup { cluster: "c".to_owned(), name: "g".to_owned(), ..NodeGroup::default() };
        assert_eq!(observe(world, &group).await.class, FaultClass::Unavailable);
    });
}

#[test]
fn throttling_and_refusal_are_read_in_every_protocol() {
    run(async |world| {
        let role = IamRole { name: "r".to_owned(), ..IamRole::default() };
        let template = LaunchTemplate { name: "t".to_owned(), ..LaunchTemplate::default() };
        let group = NodeGroup { cluster: "c".to_owned(), name: "g".to_owned(), ..NodeGroup::default() };
        world.account.proxy().add_rule(Rule::any().throttle());
        let classes = [
            observe(world, &bucket()).await.class,
            observe(world, &role).await.class,
            observe(world, &template).await.class,
            observe(world, &group).await.class,
        ];
        assert_eq!(classes, [FaultClass::Throttled; 4]);
        world.account.proxy().clear_rules();
        world.account.proxy().add_rule(Rule::any().access_denied());
        let fault = observe(world, &role).await;
        assert_eq!((fault.class, fault.action.as_str()), (FaultClass::Denied, "iam:GetRole"));
        assert_eq!(observe(world, &group).await.class, FaultClass::Denied);
    });
}

#[test]
fn a_page_of_a_gateway_is_not_absence() {
    run(async |world| {
        let page = "<html><body>Not Found</body></html>";
        world.account.proxy().add_rule(Rule::any().respond_xml(404, page));
        let group = NodeGroup { cluster: "c".to_owned(), name: "g".to_owned(), ..NodeGroup::default() };
        let role = IamRole { name: "r".to_owned(), ..IamRole::default() };
        assert_eq!(observe(world, &bucket()).await.class, FaultClass::Unavailable);
        assert_eq!(observe(world, &group).await.class, FaultClass::Unavailable);
        assert_eq!(observe(world, &role).await.class, FaultClass::Unavailable);
        assert_eq!(create(world, &bucket()).await.class, FaultClass::MaybeSent);
    });
}

#[test]
fn an_endpoint_where_nobody_listens_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let mut drivers = Drivers::default();
    register(&mut drivers, &std::sync::Arc::new(aws_at(&url)));
    block_on(async {
        let driver = drivers.get(Bucket::FACTS.kind).expect("registered");
        let fault = driver.observe(&converge::Cx::default(), &document(&bucket())).await.expect_err("nobody listens");
        assert_eq!(fault.class, FaultClass::Unreachable, "{fault}");
        assert!(fault.message.to_lowercase().contains("refused"), "{}", fault.message);
    });
}

#[test]
fn emptying_a_bucket_goes_on_for_as_long_as_something_is_deleted() {
    run(async |world| {
        let spec = Bucket { empty_before_delete: true, ..bucket() };
        world.with(&spec).await;
        let client = world.aws.s3().await.expect("a client");
        let put = client.put_object().bucket(&spec.name).key("model").body(b"weights".to_vec().into());
        put.send().await.expect("an object is put");
        client.create_multipart_upload().bucket(&spec.name).key("big").send().await.expect("an upload begins");
        let subject = world.subject::<Bucket>();
        let found = subject.observe(&document(&spec)).await.expect("there");
        let wanted = document(&spec);
        let delete = || subject.driver.delete(&world.cx, &wanted, &found);

        world.account.proxy().add_rule(Rule::on("s3.DeleteObjects").first(1).throttle());
        world.account.proxy().add_rule(Rule::on("s3.AbortMultipartUpload").first(2).throttle());
        let classes = [
            delete().await.expect_err("nothing is deleted").class,
            delete().await.expect_err("the object is").class,
            delete().await.expect_err("nothing more is").class,
        ];
        assert_eq!(classes, [FaultClass::Throttled, FaultClass::Busy, FaultClass::Throttled]);
        delete().await.expect("the rest goes");
        assert!(subject.observe(&document(&spec)).await.is_none());
    });
}
