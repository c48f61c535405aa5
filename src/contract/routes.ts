// Every HTTP binding of an operation. S3 binds by method and subresource, in its own folder.
import type { OperationName } from '#contract/operations.ts'

export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly operation: OperationName
  /**
   * The names its query may have: any other is refused, as what it asks for would not be done. Absent where
   * clients of other makers and probes add names of their own, that change nothing.
   */
  readonly query?: readonly string[]
}

export const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/chat/completions', operation: 'chat.create' },
  { method: 'POST', path: '/v1/completions', operation: 'completion.create' },
  { method: 'POST', path: '/v1/embeddings', operation: 'embedding.create' },
  { method: 'GET', path: '/v1/models', operation: 'model.list' },
  { method: 'GET', path: '/v1/models/:model', operation: 'model.get' },
  { method: 'POST', path: '/v1/storage/presigned', operation: 'presign.create', query: [] },
  { method: 'GET', path: '/v1/usage/last', operation: 'usage.last', query: [] },
  {
    method: 'GET',
    path: '/v1/usage',
    operation: 'usage.get',
    query: ['from', 'to', 'group_by', 'cursor'],
  },
  { method: 'GET', path: '/v1/receipts', operation: 'receipt.list', query: ['cursor', 'limit'] },
  { method: 'GET', path: '/v1/receipts/:receipt', operation: 'receipt.get', query: [] },
  { method: 'GET', path: '/.well-known/ergon/receipt-keys.json', operation: 'receipt.keys' },
  {
    method: 'GET',
    path: '/.well-known/ergon/logs/:log/:shard/checkpoint',
    operation: 'receipt.checkpoint',
  },
  { method: 'GET', path: '/.well-known/ergon/logs/:log/:shard/tile/*', operation: 'receipt.tile' },
  { method: 'GET', path: '/healthz', operation: 'service.health' },
  { method: 'GET', path: '/readyz', operation: 'service.ready' },
  { method: 'GET', path: '/metrics', operation: 'service.metrics' },
]

/** Paths of the interface and of OpenAI's API that are not served yet: 501, where other unknown paths are 404. */
export const UNSERVED_ROUTES: readonly Omit<Route, 'operation'>[] = [
  { method: 'POST', path: '/v1/images/generations' },
  { method: 'POST', path: '/v1/audio/transcriptions' },
  { method: 'POST', path: '/v1/audio/speech' },
  { method: 'POST', path: '/v1/responses' },
  { method: 'POST', path: '/v1/moderations' },
  { method: 'GET', path: '/v1/files' },
  { method: 'POST', path: '/v1/files' },
  { method: 'GET', path: '/v1/batches' },
  { method: 'POST', path: '/v1/batches' },
  { method: 'GET', path: '/v1/assistants' },
  { method: 'POST', path: '/v1/assistants' },
  { method: 'POST', path: '/v1/threads' },
  { method: 'GET', path: '/v1/workloads/:workload/logs' },
]
