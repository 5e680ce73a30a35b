//! How much accelerator memory serving a model takes: an estimate, in GiB, before anything runs.
//!
//! Not a measurement and not a capacity plan: it answers whether a model can start on a device. It
//! is checked against published checkpoint sizes, and errs to the large side where the model's
//! architecture is not given.
//!
//! | Part | Formula |
//! |---|---|
//! | weights | `P_body × b + P_embedding × 2`; unquantised dtypes: `P × b` |
//! | KV cache | `2 × layers × kv_heads × head_dim × b_kv × context × sequences` |
//! | overhead | `1 GiB + 8192 × hidden × 12 × b_activation` |
//!
//! `P` is the number of parameters and `b` the bytes of one. A quantised checkpoint keeps its
//! embedding and output matrix (`P_embedding = 2 × vocabulary × hidden`, at most `P / 2`) in
//! 16 bits; 4-bit formats add a 16-bit scale and a 4-bit zero point for every 128 weights.
//! The overhead is the server's graphs and buffers and the activations of one batch of 8192 tokens.
//!
//! What is not given is estimated from `P` in billions: `layers = 32 × (P / 8)^0.4`,
//! `hidden = 4096 × (P / 8)^(1/3)`, 8 key-value heads of dimension 128, a vocabulary of 128 000.
//! Models with one key-value head a query head (Llama 1 and 2 up to 13B) need up to four times that
//! cache, those with latent attention (DeepSeek) a fraction of it: give the architecture there.

const GIB: f64 = 1_073_741_824.0;

const DEFAULT_KV_HEADS: u32 = 8;
const DEFAULT_HEAD_DIM: u32 = 128;
const DEFAULT_VOCABULARY: u32 = 128_000;

/// More parameters than any published model; above it, somebody wrote a plain number.
const MAX_PARAMETERS_BILLION: f64 = 20_000.0;

/// How a model's weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dtype {
    /// 32-bit floating point.
    Float32,
    /// 16-bit floating point with the exponent of 32 bits.
    Bfloat16,
    /// 16-bit floating point.
    Float16,
    /// 8-bit floating point.
    Fp8,
    /// 8-bit integers.
    Int8,
    /// 4-bit integers with group scales: GPTQ, AWQ and their like.
    Int4,
}

/// How big the model is; one of the two is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModelSize {
    /// Parameters in billions, all experts of a mixture included.
    ParametersBillion(f64),
    /// Size of the checkpoint in GiB; the weights take as much.
    CheckpointGib(f64),
}

/// What a model's `config.json` says, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Architecture {
    /// `num_hidden_layers`
    pub layers: Option<u32>,
    /// `hidden_size`
    pub hidden: Option<u32>,
    /// `num_key_value_heads`
    pub kv_heads: Option<u32>,
    /// `head_dim`, or `hidden_size` over `num_attention_heads`
    pub head_dim: Option<u32>,
    /// `vocab_size`
    pub vocabulary: Option<u32>,
}

/// A model and how it is to be served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelSpec {
    /// Its size.
    pub size: ModelSize,
    /// How the weights are stored.
    pub dtype: Dtype,
    /// Tokens of the longest request, prompt and answer together.
    pub max_context: u32,
    /// Requests of that length whose cache is to fit at the same time. With less than 1 a server
    /// does not start.
    pub sequences: u32,
    /// How the cache is stored; `None`: 16 bits, or 32 with [`Dtype::Float32`].
    pub kv_cache_dtype: Option<Dtype>,
    /// What is known of the architecture.
    pub architecture: Architecture,
}

/// The parts of the estimate, in GiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Breakdown {
    /// The model's parameters.
    pub weights_gib: f64,
    /// The cache of keys and values.
    pub kv_cache_gib: f64,
    /// Activations, graphs and buffers.
    pub overhead_gib: f64,
    /// All of it.
    pub total_gib: f64,
}

/// Estimates the memory that serving the model takes, over all accelerators of a replica.
///
/// Compare it with [`super::USABLE_MEMORY_FRACTION`] of the devices' memory. The error is a
/// sentence for users.
pub fn model_memory_gib(model: &ModelSpec) -> Result<Breakdown, String> {
    model.check()?;
    let sizes = Sizes::of(model);
    let weights_gib = match model.size {
        ModelSize::CheckpointGib(size) => size,
        ModelSize::ParametersBillion(_) => sizes.weight_bytes(model.dtype) / GIB,
    };
    let kv_cache_gib =
        sizes.kv_bytes_per_token(model.kv_dtype()) * f64::from(model.max_context) * f64::from(model.sequences) / GIB;
    let overhead_gib = 1.0 + 8192.0 * sizes.hidden * 12.0 * model.dtype.activation_bytes() / GIB;
    Ok(Breakdown { weights_gib, kv_cache_gib, overhead_gib, total_gib: weights_gib + kv_cache_gib + overhead_gib })
}

// === impl Dtype ===

impl Dtype {
    /// Reads the name of a type or of a quantisation method. The error is a sentence for users.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name.to_ascii_lowercase().as_str() {
            "float32" | "fp32" | "f32" | "float" => Ok(Self::Float32),
            "bfloat16" | "bf16" => Ok(Self::Bfloat16),
            "float16" | "fp16" | "f16" | "half" => Ok(Self::Float16),
            "fp8" | "float8" | "fp8_e4m3" | "fp8_e5m2" => Ok(Self::Fp8),
            "int8" => Ok(Self::Int8),
            "int4" | "awq" | "gptq" => Ok(Self::Int4),
            _ => Err(format!(
                "Data type {name:?} is not known. Use \"float32\", \"bfloat16\", \"float16\", \
                 \"fp8\", \"int8\", \"int4\", \"awq\" or \"gptq\"."
            )),
        }
    }

    /// Bytes of one parameter, without what stays in 16 bits.
    pub fn bytes_per_parameter(self) -> f64 {
        match self {
            Self::Float32 => 4.0,
            Self::Bfloat16 | Self::Float16 => 2.0,
            Self::Fp8 | Self::Int8 => 1.0,
            Self::Int4 => (4.0 + (16.0 + 4.0) / 128.0) / 8.0,
        }
    }

    fn is_quantised(self) -> bool {
        matches!(self, Self::Fp8 | Self::Int8 | Self::Int4)
    }

    /// Quantised weights are computed with in 16 bits.
    fn activation_bytes(self) -> f64 {
        if self == Self::Float32 { 4.0 } else { 2.0 }
    }
}

// === impl ModelSpec ===

impl ModelSpec {
    /// One request of `max_context` tokens, an unknown architecture.
    pub fn new(size: ModelSize, dtype: Dtype, max_context: u32) -> Self {
        Self { size, dtype, max_context, sequences: 1, kv_cache_dtype: None, architecture: Architecture::default() }
    }

    fn kv_dtype(&self) -> Dtype {
        let computed_in = if self.dtype == Dtype::Float32 { Dtype::Float32 } else { Dtype::Bfloat16 };
        self.kv_cache_dtype.unwrap_or(computed_in)
    }

    fn check(&self) -> Result<(), String> {
        let (name, value) = match self.size {
            ModelSize::ParametersBillion(value) => ("parameters_billion", value),
            ModelSize::CheckpointGib(value) => ("size_gib", value),
        };
        if !value.is_finite() || value <= 0.0 {
            return Err(format!("{name} must be a number above 0, not {value}."));
        }
        if value > MAX_PARAMETERS_BILLION {
            return Err(format!(
                "{name} is {value}, more than any model has. Its unit is billions of parameters \
                 or GiB: write 7.6 for a model of 7.6 billion."
            ));
        }
        let positive = [("max_context", Some(self.max_context)), ("sequences", Some(self.sequences))];
        match positive.into_iter().chain(self.architecture.fields()).find(|(_, at)| *at == Some(0)) {
            Some((name, _)) => Err(format!("{name} must be at least 1, not 0.")),
            None => Ok(()),
        }
    }
}

// === impl Architecture ===

impl Architecture {
    fn fields(&self) -> [(&'static str, Option<u32>); 5] {
        [
            ("layers", self.layers),
            ("hidden", self.hidden),
            ("kv_heads", self.kv_heads),
            ("head_dim", self.head_dim),
            ("vocabulary", self.vocabulary),
        ]
    }
}

/// The architecture with every gap filled by the estimate.
struct Sizes {
    parameters: f64,
    layers: f64,
    hidden: f64,
    kv_width: f64,
    vocabulary: f64,
}

// === impl Sizes ===

impl Sizes {
    fn of(model: &ModelSpec) -> Self {
        let parameters = match model.size {
            ModelSize::ParametersBillion(billion) => billion * 1e9,
            ModelSize::CheckpointGib(size) => size * GIB / model.dtype.bytes_per_parameter(),
        };
        let scale = parameters / 8e9;
        let known = model.architecture;
        let or = |given: Option<u32>, estimate: f64| given.map_or(estimate, f64::from);
        Self {
            parameters,
            layers: or(known.layers, (32.0 * scale.powf(0.4)).ceil()),
            hidden: or(known.hidden, (4096.0 * scale.cbrt()).ceil()),
            kv_width: f64::from(known.kv_heads.unwrap_or(DEFAULT_KV_HEADS))
                * f64::from(known.head_dim.unwrap_or(DEFAULT_HEAD_DIM)),
            vocabulary: f64::from(known.vocabulary.unwrap_or(DEFAULT_VOCABULARY)),
        }
    }

    fn weight_bytes(&self, dtype: Dtype) -> f64 {
        if !dtype.is_quantised() {
            return self.parameters * dtype.bytes_per_parameter();
        }
        let embedding = (2.0 * self.vocabulary * self.hidden).min(self.parameters / 2.0);
        (self.parameters - embedding) * dtype.bytes_per_parameter() + embedding * 2.0
    }

    fn kv_bytes_per_token(&self, dtype: Dtype) -> f64 {
        2.0 * self.layers * self.kv_width * dtype.bytes_per_parameter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Filter, Vendor, accelerators_needed, find, fit_instance_types};

    fn estimate(billion: f64, dtype: Dtype, max_context: u32) -> Breakdown {
        let model = ModelSpec::new(ModelSize::ParametersBillion(billion), dtype, max_context);
        model_memory_gib(&model).expect("a valid model")
    }

    /// Published sizes are in GB; the estimate must be within a share of them.
    fn check_weights(billion: f64, dtype: Dtype, published_gb: f64, tolerance: f64) {
        let estimated_gb = estimate(billion, dtype, 1).weights_gib * GIB / 1e9;
        let off = (estimated_gb - published_gb).abs() / published_gb;
        assert!(off <= tolerance, "{billion} {dtype:?}: {estimated_gb} GB, not {published_gb} GB");
    }

    #[test]
    fn weights_agree_with_published_checkpoints() {
        check_weights(8.03, Dtype::Bfloat16, 16.06, 0.01);
        check_weights(7.62, Dtype::Bfloat16, 15.23, 0.01);
        check_weights(70.55, Dtype::Bfloat16, 141.1, 0.01);
        check_weights(70.55, Dtype::Fp8, 72.7, 0.03);
        check_weights(70.55, Dtype::Int4, 39.8, 0.05);
        check_weights(7.62, Dtype::Int4, 5.57, 0.10);
    }

    #[test]
    fn a_given_architecture_gives_the_exact_cache() {
        let mut model = ModelSpec::new(ModelSize::ParametersBillion(7.62), Dtype::Bfloat16, 8192);
        model.architecture =
            Architecture { layers: Some(28), kv_heads: Some(4), head_dim: Some(128), ..Architecture::default() };
        let one = model_memory_gib(&model).expect("a valid model").kv_cache_gib;
        assert!((one - 0.4375).abs() < 1e-12, "{one}");
        model.sequences = 16;
        model.kv_cache_dtype = Some(Dtype::Fp8);
        let sixteen = model_memory_gib(&model).expect("a valid model").kv_cache_gib;
        assert!((sixteen - 3.5).abs() < 1e-12, "{sixteen}");
    }

    #[test]
    fn an_estimated_cache_is_near_that_of_known_models() {
        // Bytes a token from the published configurations of Llama 3 (8B, 70B, 405B).
        for (billion, published) in [(8.0, 131_072.0), (70.6, 327_680.0), (405.9, 516_096.0)] {
            let tokens = 4096;
            let bytes = estimate(billion, Dtype::Bfloat16, tokens).kv_cache_gib * GIB / f64::from(tokens);
            let ratio = bytes / published;
            assert!((0.9..=1.4).contains(&ratio), "{billion}: {ratio}");
        }
    }

    #[test]
    fn the_total_is_the_sum_of_the_parts() {
        let parts = estimate(8.0, Dtype::Bfloat16, 8192);
        let sum = parts.weights_gib + parts.kv_cache_gib + parts.overhead_gib;
        assert!((parts.total_gib - sum).abs() < 1e-12);
        assert!((1.5..2.0).contains(&parts.overhead_gib), "{parts:?}");
    }

    #[test]
    fn models_land_on_the_devices_people_run_them_on() {
        let fits = |billion, dtype, context, name: &str| {
            let kind = find(name).expect("in the table");
            accelerators_needed(estimate(billion, dtype, context).total_gib, kind)
        };
        assert_eq!(fits(7.62, Dtype::Bfloat16, 8192, "g5.xlarge"), Some(1));
        assert_eq!(fits(8.03, Dtype::Bfloat16, 8192, "g6.xlarge"), Some(1));
        assert_eq!(fits(13.0, Dtype::Bfloat16, 4096, "g5.xlarge"), None);
        assert_eq!(fits(32.8, Dtype::Int4, 8192, "g6e.xlarge"), Some(1));
        assert_eq!(fits(70.6, Dtype::Bfloat16, 8192, "p5.48xlarge"), Some(2));
        assert_eq!(fits(405.9, Dtype::Fp8, 8192, "p5.48xlarge"), Some(8));
        assert_eq!(fits(405.9, Dtype::Bfloat16, 8192, "p5.48xlarge"), None);
        let nvidia = Filter { vendor: Some(Vendor::Nvidia), ..Filter::default() };
        let small = estimate(7.62, Dtype::Bfloat16, 8192).total_gib;
        let cheapest = fit_instance_types(small, &nvidia);
        assert_eq!(cheapest.first().map(|kind| kind.name), Some("g6.xlarge"));
    }

    #[test]
    fn a_checkpoints_size_is_taken_as_it_is() {
        let model = ModelSpec::new(ModelSize::CheckpointGib(14.2), Dtype::Bfloat16, 8192);
        let by_size = model_memory_gib(&model).expect("a valid model");
        assert!((by_size.weights_gib - 14.2).abs() < 1e-12);
        let by_parameters = estimate(7.62, Dtype::Bfloat16, 8192);
        assert!((by_size.total_gib - by_parameters.total_gib).abs() < 0.1);
    }

    #[test]
    fn more_of_anything_never_takes_less() {
        let mut last = 0.0;
        for billion in [0.1, 0.5, 1.0, 7.0, 70.0, 700.0, 2000.0] {
            for dtype in [Dtype::Int4, Dtype::Fp8, Dtype::Bfloat16, Dtype::Float32] {
                let short = estimate(billion, dtype, 1024).total_gib;
                assert!(short < estimate(billion, dtype, 131_072).total_gib);
            }
            let total = estimate(billion, Dtype::Int4, 1024).total_gib;
            assert!(total > last);
            last = total;
        }
    }

    #[test]
    fn dtypes_have_their_usual_names() {
        assert_eq!(Dtype::parse("BF16"), Ok(Dtype::Bfloat16));
        assert_eq!(Dtype::parse("half"), Ok(Dtype::Float16));
        assert_eq!(Dtype::parse("awq"), Ok(Dtype::Int4));
        let text = Dtype::parse("int3").err().unwrap_or_default();
        assert!(text.contains("\"int3\"") && text.contains("\"bfloat16\""), "{text}");
    }

    #[test]
    fn impossible_models_are_refused_by_attribute() {
        let refused = |model: ModelSpec| model_memory_gib(&model).err().unwrap_or_default();
        let billion = |value| ModelSpec::new(ModelSize::ParametersBillion(value), Dtype::Fp8, 1);
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(billion(value)).starts_with("parameters_billion must"), "{value}");
        }
        assert!(refused(billion(7.6e9)).contains("write 7.6"));
        let mut model = billion(7.6);
        model.architecture.kv_heads = Some(0);
        assert_eq!(refused(model), "kv_heads must be at least 1, not 0.");
        let mut model = billion(7.6);
        model.max_context = 0;
        assert_eq!(refused(model), "max_context must be at least 1, not 0.");
        let size = ModelSpec::new(ModelSize::CheckpointGib(-2.0), Dtype::Fp8, 1);
        assert!(refused(size).starts_with("size_gib must"));
    }
}
