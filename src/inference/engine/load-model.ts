// Opens the engine and one model file. Nothing is downloaded or compiled: a missing binary is an error.
import { getLlama, LlamaLogLevel, type Llama, type LlamaModel } from 'node-llama-cpp'
import type { Logger } from '#base/log.ts'
import type { ModelConfig } from './model-config.ts'

export type Loaded = { readonly llama: Llama; readonly model: LlamaModel }

/** Loads the file. Rejects with the engine's own error when it cannot be read. */
export async function loadModel(config: ModelConfig, log: Logger): Promise<Loaded> {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    // With createContext's `threads` absent or this one, ggml takes max(4, cores) threads that spin:
    // one token then took 30 s on two busy cores.
    maxThreads: config.threads,
    logLevel: LlamaLogLevel.error,
    logger: (_level, message) => log.error('The engine reports a fault', { text: message.trim() }),
  })
  const model = await llama.loadModel({ modelPath: config.file })
  return { llama, model }
}
