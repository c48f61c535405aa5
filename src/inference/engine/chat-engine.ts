// A chat model: serves chat and text completions.
import type { Logger } from '#base/log.ts'
import type { CellEngine } from './cell-engine.ts'
import { answerChat } from './chat.ts'
import type { ChatModel } from './chat-model.ts'
import { answerCompletion } from './completion.ts'
import { createDecoder } from './decoder.ts'
import { loadModel } from './load-model.ts'
import type { ModelConfig } from './model-config.ts'
import { createRenderer } from './render.ts'

/** Loads the model and warms it up: the first 16 tokens after loading take 0.4 s longer (page-in). */
export async function openChatEngine(asked: ModelConfig, log: Logger): Promise<CellEngine> {
  const loaded = await loadModel(asked, log)
  const { config } = loaded
  const decoder = await createDecoder(loaded, config)
  const renderer = createRenderer(loaded.model, config)
  const model: ChatModel = { config, loaded, decoder, renderer }
  await warmUp(model)
  return {
    clock: decoder.clock,
    watch: decoder.watch,
    routes: {
      '/v1/chat/completions': (body, work) => answerChat(model, body, work),
      '/v1/completions': (body, work) => answerCompletion(model, body, work),
    },
    card: {
      modalities: ['text'],
      gpu: loaded.llama.gpu,
      context_length: config.contextSize,
    },
  }
}

async function warmUp({ decoder, renderer }: ChatModel): Promise<void> {
  const account = decoder.clock.open()
  const generation = decoder.generate({
    prompt: renderer.prompt([{ role: 'user', text: 'Say hello.' }]),
    sampling: {
      temperature: 0,
      topP: 1,
      seed: 0,
      presencePenalty: 0,
      frequencyPenalty: 0,
      bias: new Map(),
    },
    account,
    payer: '',
    signal: AbortSignal.timeout(WARM_UP_TIMEOUT_MS),
  })
  for await (const event of generation) if (event.kind === 'token') break
  decoder.clock.close(account)
}

const WARM_UP_TIMEOUT_MS = 60_000
