// Limits: inference.
import * as inference from '#contract/inference/inference-limits.ts'
import { DEPTH_MAX, STEPS_MAX } from '#inference/engine/grammar/budget.ts'
import { WAYS_MAX, WORK_MAX } from '#inference/engine/grammar/deterministic-grammar.ts'
import { SYMBOLS_MAX } from '#inference/engine/grammar/grammar-rules.ts'
import { PROMPTS_MAX } from '#inference/engine/prompt-limit.ts'
import { TIMEOUTS, UPSTREAM_CONNECTIONS_MAX } from '#inference/providers/openai/upstream.ts'
import { code, count, seconds, type LimitSection } from './limit.ts'

export const INFERENCE: LimitSection = {
  title: 'Inference',
  intro:
    'What a model takes may be less: its context, what it supports, and for `completions` and schemas what is said here of models of our own.',
  limits: [
    ['`messages`', count(inference.MESSAGES_MAX), code('invalid_request')],
    ['parts of one message', count(inference.PARTS_MAX), code('invalid_request')],
    [
      '`tools`, and `tool_calls` of one message',
      count(inference.TOOLS_MAX),
      code('invalid_request'),
    ],
    ['`n`', count(inference.CHOICES_MAX), code('invalid_request')],
    ['`max_tokens`', count(inference.TOKENS_MAX), code('invalid_request')],
    [
      `\`stop\`, each of up to ${inference.STOP_LENGTH_MAX} characters`,
      count(inference.STOPS_MAX),
      code('invalid_request'),
    ],
    ['entries of `logit_bias`', count(inference.BIASES_MAX), code('invalid_request')],
    [
      '`input` of embeddings, `prompt` of completions',
      count(inference.INPUTS_MAX),
      code('invalid_request'),
    ],
    ['token ids of one of them', count(inference.IDS_MAX), code('invalid_request')],
    ['`prompt` of completions, of a model of our own', count(PROMPTS_MAX), code('invalid_request')],
    [
      'steps of making a grammar of all JSON Schemas of a request',
      count(STEPS_MAX),
      code('invalid_request'),
    ],
    ['nesting of a JSON Schema', count(DEPTH_MAX), code('invalid_request')],
    [
      'characters and items that the values of a JSON Schema may have at most, those without an end counted once',
      count(SYMBOLS_MAX),
      code('invalid_request'),
    ],
    [
      'characters, and kinds of value, of which any may come next under a JSON Schema',
      count(WAYS_MAX),
      code('invalid_request'),
    ],
    [
      'steps to tell the values of a JSON Schema apart; values that differ in their first property take few',
      count(WORK_MAX),
      code('invalid_request'),
    ],
    ['until a server is connected', seconds(TIMEOUTS.connectMs), code('upstream_failed')],
    [
      'until a model or server begins to answer',
      seconds(TIMEOUTS.headersMs),
      code('upstream_timeout'),
    ],
    ['between two pieces of its answer', seconds(TIMEOUTS.idleMs), code('upstream_timeout')],
    [
      'requests to one model at once, in each gateway; of one account as many as are still free',
      count(UPSTREAM_CONNECTIONS_MAX),
      code('overloaded'),
    ],
  ],
}
