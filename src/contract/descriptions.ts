// What each routed operation takes and gives, in one line each: with the routes, the errors and the
// headers this is the whole OpenAPI page. Only what prints or tests the interface imports it.
import type { z } from 'zod'
import { chatRequest, completionRequest, embeddingRequest } from './inference.ts'
import * as inference from './inference-replies.ts'
import type { OperationName } from './operations.ts'
import { presignReply, presignRequest } from './presign.ts'
import * as service from './service-replies.ts'

/** A reply's schema by media type; null: not JSON. */
type Media = Readonly<Record<string, z.ZodType | null>>
export type Description = {
  readonly summary: string
  readonly query?: z.ZodObject
  readonly request?: z.ZodType
  /** By status; refusals are the same everywhere. */
  readonly replies: Readonly<Record<number, { readonly help: string; readonly media: Media }>>
}
/** Operations that no route names, as those of the S3 door: they have no description. */
export type Unrouted = 'service.nobody' | 'cell.standing' | `storage.${string}`

const json = (schema: z.ZodType): Media => ({ 'application/json': schema })
const ok = (help: string, media: Media): Description['replies'] => ({ 200: { help, media } })
const TEXT = { 'text/plain': null }

export const DESCRIPTIONS: Readonly<Record<Exclude<OperationName, Unrouted>, Description>> = {
  'chat.create': {
    summary: 'Answer a conversation; `model: auto` lets the router choose',
    request: chatRequest,
    replies: ok('The answer, or its chunks with `stream: true`', {
      'application/json': inference.chatCompletion,
      'text/event-stream': inference.chatCompletionChunk,
    }),
  },
  'completion.create': {
    summary: 'Continue a text (the older form)',
    request: completionRequest,
    replies: ok('The continuation, or its chunks with `stream: true`', {
      'application/json': inference.textCompletion,
      'text/event-stream': inference.textCompletion,
    }),
  },
  'embedding.create': {
    summary: 'Vectors of texts',
    request: embeddingRequest,
    replies: ok('One vector for each input, in order', json(inference.embeddingList)),
  },
  'model.list': {
    summary: 'The models that answer or are about to',
    replies: ok('The list', json(inference.modelList)),
  },
  'model.get': {
    summary: 'One model',
    replies: ok('The model', json(inference.modelEntry)),
  },
  'presign.create': {
    summary: 'An address for one object and method, signed with a key of its own, never the token',
    request: presignRequest,
    replies: ok('The address, until it expires or the token is revoked', json(presignReply)),
  },
  'usage.last': {
    summary: 'What the last request of this token cost; reads of usage and receipts do not count',
    replies: ok('The figures of its receipt', json(service.usageLast)),
  },
  'usage.get': {
    summary: 'What the account used over a time, grouped',
    query: service.usageQuery,
    replies: ok('One row for each group, the most energy first', json(service.usageList)),
  },
  'receipt.list': {
    summary: 'What the account was charged, in the order of its own numbers, which have no gap',
    query: service.receiptListQuery,
    replies: ok('The charges after the cursor', json(service.receiptList)),
  },
  'receipt.get': {
    summary:
      'A receipt, by its own id or that of its request; of what nobody was charged, without a token',
    replies: {
      200: {
        help: 'The proof, as C2SP tlog-proof or as JSON',
        media: { ...TEXT, ...json(service.receipt) },
      },
      202: {
        help: 'Posted, not sealed yet: ask again after Retry-After',
        media: json(service.receiptUnsealed),
      },
    },
  },
  'receipt.keys': {
    summary: 'The keys that receipts are checked with: keep them',
    replies: ok('One key for each shard of the log', json(service.receiptKeys)),
  },
  'receipt.checkpoint': {
    summary: 'The newest signed tree head of a shard',
    replies: ok('A C2SP signed note', TEXT),
  },
  'receipt.tile': {
    summary: 'Hashes of the log: `tile/<level>/<index>[.p/<width>]` as C2SP lays them out',
    replies: ok('Up to 256 SHA-256 hashes', { 'application/octet-stream': null }),
  },
  'service.health': {
    summary: 'Whether this process answers',
    replies: ok('It does', json(service.health)),
  },
  'service.ready': {
    summary: 'Whether it may be sent requests',
    replies: ok('It may', json(service.ready)),
  },
  'service.metrics': {
    summary: 'Figures in the Prometheus text format, for the bearer of ERGON_METRICS_TOKEN',
    replies: ok('The figures', TEXT),
  },
}
