// A loaded chat model with its renderer and tokenizer.
import type { Decoder } from './decoder.ts'
import type { Loaded } from './load-model.ts'
import type { ModelConfig } from './model-config.ts'
import type { Renderer } from './render.ts'

export type ChatModel = {
  readonly config: ModelConfig
  readonly loaded: Loaded
  readonly decoder: Decoder
  readonly renderer: Renderer
}
