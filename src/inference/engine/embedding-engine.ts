// An embedding model. POST /v1/embeddings answers one line of NDJSON per input, each a step of its own
// so that an abort takes effect between inputs, and a last line with the usage.
import type { LlamaEmbeddingContext, LlamaModel, Token } from 'node-llama-cpp'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import type { CellAnswer, CellEngine, CellWork } from './cell-engine.ts'
import { fieldOf, numberOf, refuse, type BodyFields } from './fields.ts'
import { createGpuTimer, NO_GPU, type GpuTimer } from './gpu-timer.ts'
import { loadModel } from './load-model.ts'
import type { ModelConfig } from './model-config.ts'
import { assertCharacters } from './prompt-limit.ts'
import { createPool, type Pool } from './sequences.ts'
import { createStepClock, processClocks, type StepShare, type StepClock } from './step-clock.ts'
import { readInputs, tokensOf } from './token-input.ts'
import { usageField } from './usage.ts'

const INPUTS_MAX = 2048

type EmbeddingModel = {
  readonly config: ModelConfig
  readonly model: LlamaModel
  readonly clock: StepClock
  /** The one sequence: its holder computes, one input at a time, first come, first served. */
  readonly turn: Pool<LlamaEmbeddingContext>
  /** Marks that the engine puts around every text: [CLS] and [SEP] of a BERT. */
  readonly framingTokens: number
  /** The accounts that compute now. */
  readonly shares: StepShare[]
  readonly gpu: GpuTimer
}

export async function openEmbeddingEngine(asked: ModelConfig, log: Logger): Promise<CellEngine> {
  const { llama, model, config } = await loadModel(asked, log)
  const context = await model.createEmbeddingContext({
    contextSize: config.contextSize,
    // Pooling needs the whole text in one batch.
    batchSize: config.contextSize,
    threads: config.threads,
  })
  const shares: StepShare[] = []
  const gpu = llama.gpu === false ? NO_GPU : createGpuTimer(processClocks.wallNs)
  const clock = createStepClock({ ...processClocks, gpu, shares: () => shares })
  await context.getEmbeddingFor('warm up')
  const framingTokens = context.calculateInputLength('a') - model.tokenize('a').length
  const turn = createPool([context])
  const embedding = { config, model, clock, turn, framingTokens, shares, gpu }
  return {
    clock,
    routes: { '/v1/embeddings': (body, work) => answer(embedding, body, work) },
    card: {
      modalities: ['embedding'],
      gpu: llama.gpu,
      context_length: config.contextSize,
      dimensions: config.pad ?? model.embeddingVectorSize,
    },
  }
}

function answer(embedding: EmbeddingModel, body: BodyFields, work: CellWork): Promise<CellAnswer> {
  const { clock } = embedding
  const dimensions = readDimensions(embedding, body)
  const inputs = clock.own(work.usage.account, () => readTokens(embedding, body))
  return Promise.resolve({
    contentType: 'application/x-ndjson',
    frames: frames(embedding, inputs, dimensions, work),
  })
}

/** The model's own length, or the padded one; a shorter vector of this model means nothing. */
function readDimensions({ model, config }: EmbeddingModel, body: BodyFields): number {
  const own = model.embeddingVectorSize
  const padded = config.pad ?? own
  const asked = numberOf(body, 'dimensions', { least: 1, most: padded, integer: true }) ?? padded
  if (asked !== own && asked !== padded)
    throw refuse('dimensions', `${config.id} has ${own}${padded === own ? '' : ` or ${padded}`}`)
  return asked
}

function readTokens({ model, config, framingTokens }: EmbeddingModel, body: BodyFields): Token[][] {
  const inputs = readInputs(fieldOf(body, 'input'), 'input', INPUTS_MAX)
  return inputs.map((input) => {
    if (typeof input === 'string') assertCharacters(input.length, config.contextSize, 'input')
    const tokens = tokensOf(model, input, 'input')
    if (tokens.length === 0) throw refuse('input', 'an empty text has no embedding')
    const length = tokens.length + framingTokens
    if (length >= config.contextSize)
      throw fault(
        'context_length_exceeded',
        `Could not embed the input: ${length} tokens, ${config.id} takes ${config.contextSize - 1}`,
        { param: 'input' },
      )
    return tokens
  })
}

async function* frames(
  embedding: EmbeddingModel,
  inputs: readonly Token[][],
  dimensions: number,
  work: CellWork,
): AsyncGenerator<string, void, void> {
  const { usage } = work
  for (const [index, tokens] of inputs.entries()) {
    const vector = await embed(embedding, tokens, work)
    usage.promptTokens += tokens.length + embedding.framingTokens
    const bytes = normalised(vector, dimensions).toString('base64')
    yield `${JSON.stringify({ index, embedding: bytes, ergon: usageField(usage) })}\n`
  }
  const total = { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens }
  const last = { model: embedding.config.id, usage: total, ergon: usageField(usage) }
  yield `${JSON.stringify(last)}\n`
}

async function embed(
  { turn, clock, shares, gpu }: EmbeddingModel,
  tokens: Token[],
  { usage, signal }: CellWork,
): Promise<readonly number[]> {
  const context = await turn.take(signal)
  // CPU before this turn belongs to others; from here to the end of the turn all CPU is this request's.
  clock.settle()
  shares.splice(0, shares.length, { account: usage.account, weight: 1n })
  try {
    // A copy: the engine puts its framing tokens into the array it is given.
    gpu.begin()
    const { vector } = await context.getEmbeddingFor([...tokens])
    return vector
  } finally {
    gpu.end()
    clock.settle()
    turn.give(context)
  }
}

/** L2-normalised (the model's own norms are 3.3 to 7.0), zero-padded, as float32 little-endian. */
function normalised(vector: readonly number[], dimensions: number): Buffer {
  const norm = Math.hypot(...vector)
  const bytes = Buffer.alloc(dimensions * 4)
  for (const [index, value] of vector.entries())
    bytes.writeFloatLE(norm === 0 ? 0 : value / norm, index * 4)
  return bytes
}
