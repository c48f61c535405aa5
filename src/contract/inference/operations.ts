// Inference: the operations of OpenAI's API.
import { withoutModel, ownView } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const inference = {
  service: 'inference',
  scope: 'read',
  tier: 'router',
  stage: 'preview',
  remembered: true,
} as const
/** No model is asked. */
const ceiling = { ...withoutModel, service: 'inference', scope: 'read', remembered: false } as const

export const INFERENCE = defineProduct({
  operations: {
    'chat.create': { ...inference, idempotent: true },
    'completion.create': { ...inference, idempotent: true },
    'embedding.create': { ...inference, idempotent: true },
    'chat.ceiling': ceiling,
    'completion.ceiling': ceiling,
    'embedding.ceiling': ceiling,
    'model.list': { ...ownView, service: 'inference', remembered: false },
    'model.get': { ...ownView, service: 'inference', remembered: false },
  },
  routes: [
    { method: 'POST', path: '/v1/chat/completions', operation: 'chat.create' },
    { method: 'POST', path: '/v1/completions', operation: 'completion.create' },
    { method: 'POST', path: '/v1/embeddings', operation: 'embedding.create' },
    { method: 'POST', path: '/v1/chat/completions/ceiling', operation: 'chat.ceiling' },
    { method: 'POST', path: '/v1/completions/ceiling', operation: 'completion.ceiling' },
    { method: 'POST', path: '/v1/embeddings/ceiling', operation: 'embedding.ceiling' },
    { method: 'GET', path: '/v1/models', operation: 'model.list' },
    { method: 'GET', path: '/v1/models/:model', operation: 'model.get' },
  ],
  unserved: [
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
  ],
})
