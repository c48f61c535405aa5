// Replies of the operations beside inference, as OpenAPI prints them and tests check them: usage,
// receipts, health, and every refusal.
import { z } from 'zod'
import { pageQuery } from './values/list-page.ts'
import { ENERGY_METHODS } from './ledger/charge.ts'

const count = z.int().min(0)
/** An integer as text: JSON numbers of other programs are doubles. */
const wholeText = z.string().regex(/^(0|[1-9]\d*)$/)
const time = z.iso.datetime()

/** GET /v1/usage/last. `energy_j` and `carbon_mg` equal the headers of that request digit for digit. */
export const usageLast = z.object({
  request_id: z.string(),
  receipt_id: z.string(),
  operation: z.string(),
  /** The model that served it; null where no model did, as in object storage. */
  model: z.string().nullable(),
  energy_j: z.number().min(0),
  carbon_mg: z.number().min(0),
  energy_nj: wholeText,
  charge_pusd: wholeText,
  unit: z.enum(['USD', 'tUSD']),
  operator: z.string(),
  region: z.string(),
})

/** GET /v1/usage. */
export const usageList = z.object({
  object: z.literal('list'),
  from: time,
  to: time,
  group_by: z.string(),
  /** The unit of `charge_pusd`. */
  unit: z.enum(['USD', 'tUSD']),
  step: z.string().optional(),
  data: z.array(
    z.object({
      /** The begin of a step, where the request has a step. */
      at: time.optional(),
      /** Null is what has none: with `group_by=model` all that no model served, with `token` what runs and is stored. */
      group: z.string().nullable(),
      /**
       * The kind of the group, with `group_by=token` and `group_by=resource`: `token`, or `session` for a sign-in at the
       * portal; `database`, `function` and so on, or `account` for deliveries of its webhooks. Null is what has neither.
       */
      kind: z.string().nullable().optional(),
      /** The name that the token or the resource has or had, with the same `group_by`; null where there is none. */
      name: z.string().nullable().optional(),
      requests: count,
      energy_j: z.number().min(0),
      carbon_mg: z.number().min(0),
      energy_nj: wholeText,
      carbon_pg: wholeText,
      /** Of energy_nj, what a sensor read; the rest was modelled, or declared by an upstream. */
      measured_nj: wholeText,
      /**
       * The bands of the charges, weighted by energy and rounded up. Null where older charges are among them, whose bands are
       * not summed; with a step it is not given.
       */
      band_pct: z.int().min(0).nullable().optional(),
      charge_pusd: wholeText,
    }),
  ),
  has_more: z.boolean(),
  /** The parameter `cursor` for the rows that follow. */
  next_cursor: z.string().nullable(),
})

/** Parameters of GET /v1/usage; values are checked by the operation, which names the parameter at fault. */
export const usageQuery = z.object({
  from: time.optional(),
  to: time.optional(),
  group_by: z.enum(['service', 'model', 'token', 'operation', 'resource', 'day']).optional(),
  /** A row for each step of time and group that has charges. A minute for two days at most, an hour for 32 days. */
  step: z.enum(['minute', 'hour', 'day']).optional(),
  /** Only charges of this service, operation, model, token or resource. */
  service: z.string().optional(),
  operation: z.string().optional(),
  model: z.string().optional(),
  token: z.string().optional(),
  resource: z.string().optional(),
  ...pageQuery,
})

/** GET /v1/receipts: the newest first. */
export const receiptList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      id: z.string(),
      /** 1, 2, 3 …: a missing one was hidden. */
      account_seq: wholeText,
      request_id: z.string(),
      operation: z.string(),
      resource: z.string().optional(),
      /** Of a resource that has an id, also of a deleted one. */
      resource_name: z.string().optional(),
      model: z.string().optional(),
      status: count,
      from: time,
      to: time,
      energy_j: z.number().min(0),
      carbon_mg: z.number().min(0),
      energy_nj: wholeText,
      charge_pusd: wholeText,
      unit: z.enum(['USD', 'tUSD']),
    }),
  ),
  has_more: z.boolean(),
  /** The parameter `cursor` for the older charges that follow: a number of the account. */
  next_cursor: wholeText.nullable(),
})

/** Parameters of GET /v1/receipts. */
export const receiptListQuery = z.object(pageQuery)

/** GET /v1/receipts/{receipt} with Accept: application/json. The proof is of `charge_bytes`. */
export const receipt = z.object({
  id: z.string(),
  charge: z.looseObject({
    id: z.string(),
    /** The energy by meter and method; `learned` is what the request caused in cells that serve all requests. */
    parts: z.array(
      z.looseObject({
        meter: z.string(),
        method: z.enum(ENERGY_METHODS),
        band_pct: wholeText,
        energy_nj: wholeText,
      }),
    ),
  }),
  charge_bytes: z.base64(),
  account_seq: wholeText,
  index: wholeText,
  proof: z.array(z.base64()),
  checkpoint: z.string(),
})

/** The same before its charge is sealed. */
export const receiptUnsealed = z.object({ id: z.string(), state: z.literal('unsealed') })

/** GET /.well-known/ergon/receipt-keys.json. */
export const receiptKeys = z.object({
  keys: z.array(
    z.object({
      origin: z.string(),
      shard: z.string(),
      valid_from: time,
      algorithm: z.literal('Ed25519'),
      public_key: z.base64(),
      public_key_hex: z.string().regex(/^[0-9a-f]{64}$/),
      public_key_pem: z.string(),
      verifier_key: z.string(),
      /** The last checkpoint of the shard before: what leaf 0 holds. */
      link: z.string().optional(),
      /** Note signed by the key before: the name of that key, and this key. */
      handover: z.string().optional(),
    }),
  ),
  /** `ready` have their share of the key and answer; left out while that is not known. */
  signers: z.object({
    count: z.int(),
    threshold: z.int(),
    hosts: z.int(),
    ready: z.int().optional(),
  }),
})

export const health = z.object({ status: z.literal('ok') })
export const ready = z.object({ status: z.literal('ready') })

/** Every refusal: RFC 9457 with the OpenAI error object as its field `error`. */
export const problem = z.looseObject({
  type: z.string().startsWith('urn:ergon:error:'),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string(),
  /** The request id. */
  instance: z.string(),
  error: z.object({
    message: z.string(),
    type: z.string(),
    code: z.string(),
    param: z.string().nullable(),
  }),
})
