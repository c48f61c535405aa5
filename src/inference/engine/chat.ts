// POST /v1/chat/completions: a stream of chat.completion.chunk events, ended by [DONE].
import { newId } from '#base/ids.ts'
import type { CellAnswer, CellWork } from './cell-engine.ts'
import { createChoiceWriter } from './chat-deltas.ts'
import type { ChatModel } from './chat-model.ts'
import { runChoices, type ChoicePlan } from './choices.ts'
import type { BodyFields } from './fields.ts'
import { createGrammar } from './grammar/create-grammar.ts'
import { assertCharacters, tokensLeft } from './prompt-limit.ts'
import { readChat, type CellChatRequest } from './read-chat.ts'
import { withSeed } from './read-sampling.ts'
import { commentFrame, dataFrame, DONE, EVENT_STREAM } from './sse.ts'
import { CALL_CLOSE } from './tool-calls.ts'
import { assertTokens } from './token-input.ts'

/** Checks the request and tokenises its prompt; the answer generates when it is read. */
export async function answerChat(
  model: ChatModel,
  body: BodyFields,
  work: CellWork,
): Promise<CellAnswer> {
  const { clock } = model.decoder
  const { request, prompt, maxTokens } = clock.own(work.usage.account, () => plan(model, body))
  const param = request.tools === undefined ? 'response_format' : 'tools'
  const own = <T>(reading: () => T) => clock.own(work.usage.account, reading)
  const grammar =
    request.grammar && (await createGrammar(model.loaded.llama, request.grammar, { param, own }))
  const stops = [...request.stops, ...model.renderer.stops, ...callStops(request)]
  const plans = Array.from({ length: request.choices }, (_, index) => ({
    prompt,
    sampling: withSeed(request.sampling, index),
    stops,
    maxTokens,
    countsPrompt: index === 0,
    isJson: request.isJson,
    ...(grammar === undefined ? {} : { grammar }),
  }))
  return { contentType: EVENT_STREAM, frames: frames(model, request, plans, work) }
}

function plan(model: ChatModel, body: BodyFields) {
  const request = readChat(body, model.config)
  const { contextSize } = model.config
  assertTokens(model.loaded.model, request.sampling.bias.keys(), 'logit_bias')
  const { turns } = request
  const characters = turns.reduce((sum, turn) => sum + turn.text.length, 0)
  assertCharacters(characters, contextSize, 'messages')
  const prompt = model.renderer.prompt(turns)
  const wanted = { maxTokens: request.maxTokens, param: 'messages' }
  return { request, prompt, maxTokens: tokensLeft(prompt.length, contextSize, wanted) }
}

/** Texts that end a turn: where calls are not parallel, the first call does. */
const callStops = ({ tools }: CellChatRequest) =>
  tools !== undefined && !tools.isForced && !tools.parallel ? [CALL_CLOSE] : []

async function* frames(
  model: ChatModel,
  request: CellChatRequest,
  plans: readonly ChoicePlan[],
  work: CellWork,
): AsyncGenerator<string, void, void> {
  const head = {
    id: newId('chatcmpl'),
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: model.config.id,
  }
  const choices = plans.map(() => createChoiceWriter(request))
  let left = plans.length
  for await (const { index, event } of runChoices(model, plans, work)) {
    if (event.kind === 'prefill') {
      yield commentFrame(work.usage)
      continue
    }
    const deltas = choices[index]?.write(event) ?? []
    if (event.kind === 'end') left--
    for (const [at, choice] of deltas.entries()) {
      const last = left === 0 && event.kind === 'end' && at === deltas.length - 1
      const chunk = { ...head, choices: [{ index, ...choice }] }
      yield dataFrame(last ? { ...chunk, usage: usageOf(work) } : chunk, work.usage)
    }
    if (deltas.length === 0) yield commentFrame(work.usage)
  }
  yield DONE
}

const usageOf = ({ usage: { promptTokens, completionTokens } }: CellWork) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
})
