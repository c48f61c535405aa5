// Opens the engine and one model file. Nothing is downloaded or compiled: a missing binary is an error.
import {
  getLlama,
  LlamaLogLevel,
  NoBinaryFoundError,
  type Llama,
  type LlamaModel,
} from 'node-llama-cpp'
import type { ErgonError } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { fittingContext, type FileFacts } from './fit.ts'
import type { ModelConfig } from './model-config.ts'

export type Loaded = {
  readonly llama: Llama
  readonly model: LlamaModel
  /** With the context that it is served with. */
  readonly config: ModelConfig
}

/**
 * Loads the file. Rejects with `gpu_unusable` where the GPU's package or driver is missing, with
 * `invalid_request` where the file is not what the config says, and with the engine's own error when it
 * cannot be read.
 */
export async function loadModel(config: ModelConfig, log: Logger): Promise<Loaded> {
  const llama = await getLlama({
    gpu: config.gpu ?? false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    // Without createContext's `threads` and without this option, ggml takes max(4, cores) threads that spin:
    // one token then took 30 s on two busy cores.
    maxThreads: config.threads,
    logLevel: LlamaLogLevel.error,
    logger: (_level, message) => log.error('The engine reports a fault', { text: message.trim() }),
  }).catch((error: unknown) => {
    throw error instanceof NoBinaryFoundError ? unusable(config.gpu, error) : error
  })
  if (config.gpu !== undefined) log.warn('The engine is open', { gpu: llama.gpu })
  const model = await llama.loadModel({ modelPath: config.file })
  const contextSize = fittingContext(factsOf(model), config)
  return { llama, model, config: { ...config, contextSize } }
}

/** The facts in the header of the file, as the engine read it. */
function factsOf({ fileInfo, embeddingVectorSize: dimensions }: LlamaModel): FileFacts {
  const { architecture } = fileInfo.metadata.general
  const {
    pooling_type: type,
    attention,
    context_length: contextMax,
  } = fileInfo.architectureMetadata
  return {
    architecture,
    pooling: type === RANK ? 'rank' : type !== undefined && type > 0 ? 'vector' : 'none',
    // Writers of encoders declare them non-causal, except in old files of BERTs.
    isEncoder: attention?.causal === false || architecture.includes('bert'),
    dimensions,
    ...(contextMax === undefined ? {} : { contextMax }),
  }
}

/** `pooling_type` of a reranker. */
const RANK = 4

const unusable = (gpu: ModelConfig['gpu'], cause: unknown): ErgonError =>
  fault(
    'gpu_unusable',
    `Could not open the engine: no package of it for this machine and ERGON_GPU=${gpu ?? 'off'}`,
    { cause },
  )
