// POST /v1/completions: a stream of text_completion events, ended by [DONE].
import type { Token } from 'node-llama-cpp'
import { newId } from '#base/ids.ts'
import type { CellAnswer, CellWork } from './cell-engine.ts'
import type { ChatModel } from './chat-model.ts'
import type { TokenLogprob } from './choice.ts'
import { runChoices, type ChoicePlan } from './choices.ts'
import { booleanOf, fieldOf, numberOf, refuse, unsupported, type BodyFields } from './fields.ts'
import { assertCharacters, PROMPTS_MAX, tokensLeft } from './prompt-limit.ts'
import { CHOICES_MAX } from '#contract/inference/inference-limits.ts'
import { readGenerating, withSeed } from './read-sampling.ts'
import { withBos } from './render.ts'
import { commentFrame, dataFrame, DONE, EVENT_STREAM } from './sse.ts'
import { assertTokens, readInputs, tokensOf, type Input } from './token-input.ts'

const ALTERNATIVES_MAX = 5
/** OpenAI's default for this endpoint. */
const MAX_TOKENS_DEFAULT = 16

type Plan = ChoicePlan & {
  /** The prompt's text, when it is to be repeated before the completion. */
  readonly echo: string
}

/** Checks the request and tokenises its prompts; the answer generates when it is read. */
export function answerCompletion(
  model: ChatModel,
  body: BodyFields,
  work: CellWork,
): Promise<CellAnswer> {
  const plans = model.decoder.clock.own(work.usage.account, () => readPlans(model, body))
  return Promise.resolve({ contentType: EVENT_STREAM, frames: frames(model, plans, work) })
}

function readPlans(model: ChatModel, body: BodyFields): Plan[] {
  if (fieldOf(body, 'suffix') !== undefined)
    throw unsupported('suffix', 'this model does not fill in the middle')
  const alternatives = numberOf(body, 'logprobs', {
    least: 0,
    most: ALTERNATIVES_MAX,
    integer: true,
  })
  const { sampling, stops, choices, maxTokens } = readGenerating(body, model.config, alternatives)
  assertTokens(model.loaded.model, sampling.bias.keys(), 'logit_bias')
  const best = numberOf(body, 'best_of', { least: 1, most: CHOICES_MAX, integer: true })
  if (best !== undefined && best !== choices) throw unsupported('best_of', 'it must equal n')
  const echo = booleanOf(body, 'echo') === true
  if (echo && alternatives !== undefined)
    throw unsupported('echo', 'the prompt has no logprobs here')
  const prompts = readInputs(fieldOf(body, 'prompt'), 'prompt', PROMPTS_MAX)
  const wanted = { maxTokens: maxTokens ?? MAX_TOKENS_DEFAULT, param: 'prompt' }
  return prompts.flatMap((input) => {
    const prompt = readPrompt(model, input)
    const left = tokensLeft(prompt.length, model.config.contextSize, wanted)
    return Array.from({ length: choices }, (_, index) => ({
      prompt,
      sampling: withSeed(sampling, index),
      stops,
      maxTokens: left,
      countsPrompt: index === 0,
      echo: echo ? textOf(model, input) : '',
    }))
  })
}

function readPrompt({ loaded, config }: ChatModel, input: Input): Token[] {
  if (typeof input === 'string') assertCharacters(input.length, config.contextSize, 'prompt')
  const tokens = withBos(loaded.model, tokensOf(loaded.model, input, 'prompt'))
  if (tokens.length === 0) throw refuse('prompt', 'it is empty')
  return tokens
}

const textOf = ({ loaded: { model } }: ChatModel, input: Input): string =>
  typeof input === 'string' ? input : model.detokenize(tokensOf(model, input, 'prompt'))

async function* frames(
  model: ChatModel,
  plans: readonly Plan[],
  work: CellWork,
): AsyncGenerator<string, void, void> {
  const head = {
    id: newId('cmpl'),
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: model.config.id,
  }
  const echoes = plans.map((plan) => plan.echo)
  let left = plans.length
  for await (const { index, event } of runChoices(model, plans, work)) {
    if (event.kind === 'prefill') {
      yield commentFrame(work.usage)
      continue
    }
    const text = (echoes[index] ?? '') + event.text
    echoes[index] = ''
    if (event.kind === 'token' && text === '') {
      yield commentFrame(work.usage)
      continue
    }
    if (event.kind === 'end') left--
    const reason = event.kind === 'end' ? event.reason : null
    const choice = { index, text, logprobs: logprobsOf(event.logprobs), finish_reason: reason }
    const { promptTokens, completionTokens } = work.usage
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    }
    const chunk = { ...head, choices: [choice] }
    yield dataFrame(left === 0 ? { ...chunk, usage } : chunk, work.usage)
  }
  yield DONE
}

function logprobsOf(entries: readonly TokenLogprob[]): object | null {
  if (entries.length === 0) return null
  return {
    tokens: entries.map((entry) => entry.token),
    token_logprobs: entries.map((entry) => entry.logprob),
    text_offset: entries.map((entry) => entry.offset),
    top_logprobs: entries.map((entry) =>
      Object.fromEntries(entry.top.map(({ token, logprob }) => [token, logprob])),
    ),
  }
}
