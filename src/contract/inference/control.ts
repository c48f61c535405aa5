// The operator's operations on models: add a model by default name, file, download or server; aliases.
import { z } from 'zod'
import { TIERS } from '#contract/ledger/charge.ts'
import type { ControlTable } from '#contract/control-operation.ts'
import { ownObject } from '#contract/values/own-object.ts'

const text = z.string().min(1)
const size = z.int().min(1)

/** The source of a model: one of these four. */
const SOURCES = {
  /** The name of a default model. */
  default: text.optional(),
  /** The path of a GGUF file. */
  file: text.optional(),
  /** The https address of a GGUF file, and its hash. */
  pull: text.optional(),
  sha256: text.optional(),
  /** The address of an OpenAI-shaped server. */
  upstream: text.optional(),
}

/** For files and servers. */
const OF_FILES = {
  name: text.optional(),
  tier: z.enum(TIERS).optional(),
  context: size.optional(),
  tools: z.boolean().optional(),
  embedding: z.boolean().optional(),
  image: z.boolean().optional(),
  audio: z.boolean().optional(),
  dimensions: size.optional(),
}

/** For servers alone: a model that runs here is measured. */
const OF_SERVERS = {
  upstream_model: text.optional(),
  api_key: text.optional(),
  nj_per_token: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of nanojoules, as text')
    .optional(),
  carbon_zone: z.string().optional(),
  prompt_overhead_tokens: z.int().min(0).optional(),
  operator: z.string().optional(),
  region: z.string().optional(),
  silicon: z.string().optional(),
}

export const FILE_FIELDS = Object.keys(OF_FILES) as readonly (keyof typeof OF_FILES)[]
export const SERVER_FIELDS = Object.keys(OF_SERVERS) as readonly (keyof typeof OF_SERVERS)[]

const newModel = ownObject({ ...SOURCES, ...OF_FILES, ...OF_SERVERS })
export type NewModelRequest = z.output<typeof newModel>

const alias = ownObject({ name: text, model: text })

export const INFERENCE_CONTROL = {
  'model.list': {
    request: ownObject({}),
    answer: z.array(
      z.strictObject({
        id: z.string(),
        state: z.string(),
        reason: z.string().nullable(),
        is_default: z.boolean(),
        source: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
  },
  'model.add': {
    request: newModel,
    /** `warning`: why the model is added and does not answer yet. */
    answer: z.strictObject({ id: z.string(), warning: z.string().optional() }),
    progress: z.strictObject({
      what: z.string(),
      done_bytes: z.number(),
      total_bytes: z.number().nullable(),
    }),
  },
  'model.remove': {
    request: ownObject({ model: text }),
    answer: z.strictObject({ id: z.string(), removed: z.literal(true) }),
  },
  'alias.list': { request: ownObject({}), answer: z.array(alias) },
  'alias.add': { request: alias, answer: alias },
  'alias.remove': {
    request: ownObject({ name: text }),
    answer: z.strictObject({ name: z.string(), removed: z.literal(true) }),
  },
} satisfies ControlTable
