// Requests and replies of the routed operations of inference.
import { json, ok, type Descriptions } from '#contract/description.ts'
import type { Code } from '#contract/errors.ts'
import { chatRequest, completionRequest, embeddingRequest } from './inference.ts'
import * as inference from './inference-replies.ts'
import type { INFERENCE } from './operations.ts'

/** Refusals of an operation that a model answers. */
const refusals: readonly Code[] = [
  'context_length_exceeded',
  'unsupported_parameter',
  'model_not_found',
  'upstream_failed',
  'model_loading',
  'model_not_available',
  'deadline_exceeded',
  'upstream_timeout',
]

/** Refusals of an operation that only routes. */
const ceilingRefusals: readonly Code[] = [
  'context_length_exceeded',
  'unsupported_parameter',
  'model_not_found',
  'model_loading',
  'model_not_available',
]

export const INFERENCE_DESCRIPTIONS: Descriptions<typeof INFERENCE> = {
  'chat.create': {
    summary: 'Answer a conversation; `model: auto` lets the router choose',
    request: chatRequest,
    refusals,
    replies: ok('The answer, or its chunks with `stream: true`', {
      'application/json': inference.chatCompletion,
      'text/event-stream': inference.chatCompletionChunk,
    }),
  },
  'completion.create': {
    summary: 'Continue a text (the older form)',
    request: completionRequest,
    refusals,
    replies: ok('The continuation, or its chunks with `stream: true`', {
      'application/json': inference.textCompletion,
      'text/event-stream': inference.textCompletion,
    }),
  },
  'embedding.create': {
    summary: 'Vectors of texts',
    request: embeddingRequest,
    refusals,
    replies: ok('One vector for each input, in order', json(inference.embeddingList)),
  },
  'chat.ceiling': {
    summary: 'The most that a conversation would cost, before it is asked for: no model runs',
    request: chatRequest,
    refusals: ceilingRefusals,
    replies: ok('The ceiling', json(inference.ceilingReply)),
  },
  'completion.ceiling': {
    summary: 'The most that a continuation would cost, before it is asked for: no model runs',
    request: completionRequest,
    refusals: ceilingRefusals,
    replies: ok('The ceiling', json(inference.ceilingReply)),
  },
  'embedding.ceiling': {
    summary: 'The most that vectors of texts would cost, before it is asked for: no model runs',
    request: embeddingRequest,
    refusals: ceilingRefusals,
    replies: ok('The ceiling', json(inference.ceilingReply)),
  },
  'model.list': {
    summary: 'The models that answer or are about to',
    replies: ok('The list', json(inference.modelList)),
  },
  'model.get': {
    summary: 'One model',
    refusals: ['model_not_found'],
    replies: ok('The model', json(inference.modelEntry)),
  },
}
