// One provider for every OpenAI-shaped server: our model cells on unix sockets, and vLLM, SGLang,
// llama-server, Ollama or OpenAI over HTTP. Answers are read as streams, so that what a caller who leaves
// has used is known; a short one of an upstream that counts its tokens may be asked for in one piece.
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { EnergyElsewhere } from '#charging/spend.ts'
import { createBreaker, type Pass } from './breaker.ts'
import { createCalls, type Calls } from './calls.ts'
import { createEmbeddingReader, embeddingBody } from './embeddings.ts'
import { createGenerationReader } from './generation-reader.ts'
import { cellMeter, tokenMeter, type Meter } from './meter.ts'
import { createWholeReader } from './whole-reader.ts'
import type { AnswerReader, EmbeddingCall, GenerationCall, Provider, Usage } from './provider.ts'
import {
  CONNECTIONS_MAX,
  createUpstream,
  type Question,
  type Refusal,
  type Upstream,
  type UpstreamConfig,
  type UpstreamDeps,
} from './upstream.ts'
import { figuresIn } from './upstream-error.ts'
import type { UpstreamReply } from './upstream-http.ts'

export type ProviderConfig = UpstreamConfig & {
  /** Newer OpenAI models know only max_completion_tokens, many servers only max_tokens. */
  readonly limitField?: 'max_tokens' | 'max_completion_tokens'
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** A provider with its own connections and breaker. */
export function createOpenaiProvider(config: ProviderConfig, deps: UpstreamDeps): Provider {
  const upstream = createUpstream(config, deps)
  const { breaker, calls, enter } = createEntrance(config, deps)
  let countsTokens = true

  const ask = <Event>(job: Job<Event>, signal: AbortSignal) =>
    answerOf({ upstream, calls, enter }, job, signal)

  return {
    name: config.name,
    breaker,
    ...(config.at.kind === 'upstream' && {
      energy: energyOf(config.at),
    }),
    get givesWhole() {
      return config.at.kind === 'upstream' && countsTokens
    },
    generate(call, signal) {
      const meter = meterOf(config, call)
      const question = generationQuestion(call, config.limitField)
      // A cell of ours keeps to its limit, and its chunks are no tokens.
      const isMetered = config.at.kind === 'cell'
      // Of a stream every piece is a token: who does not count them is asked for streams from now on.
      const uncounted = () => void (countsTokens = false)
      const reader = (type: string) =>
        type.startsWith(JSON_TYPE)
          ? createWholeReader(call, meter, uncounted)
          : createGenerationReader(
              call,
              meter,
              isMetered ? Infinity : call.tokensMax / call.choices,
            )
      return ask({ question, meter, reader }, signal)
    },
    embed(call, signal) {
      const meter = meterOf(config, call)
      const question = embeddingQuestion(call, config)
      const reader = (type: string) => createEmbeddingReader(call, meter, type.startsWith(NDJSON))
      return ask({ question, meter, reader }, signal)
    },
    async close(graceMs = 0) {
      await calls.calm(graceMs)
      await upstream.close()
    },
  }
}

type Server = {
  readonly upstream: Upstream
  readonly calls: Calls
  readonly enter: () => Pass
}

/** One call, from the question to the end of its events, under the breaker. */
async function* answerOf<Event>(
  { upstream, calls, enter }: Server,
  job: Job<Event>,
  signal: AbortSignal,
): AsyncGenerator<(Event | UsedEvent)[], void, void> {
  const pass = enter()
  let reply: UpstreamReply | undefined
  try {
    const answer = await upstream.ask({ ...job.question, sent: job.meter.asked }, signal)
    if ('refusal' in answer) {
      yield refusedEvents(answer, job.meter)
      throw answer.refusal
    }
    reply = answer
    const reader = job.reader(String(reply.headers['content-type']))
    let bytes = 0
    // No generator of its own for this: yield* costs each step two more turns of the promise queue.
    for await (const chunk of reply.body) {
      bytes += chunk.length
      if (bytes > ANSWER_BYTES_MAX) throw tooLong()
      const events = reader.push(chunk)
      if (events.length > 0) yield events
      const stage = reader.stage()
      if (stage === 'more') continue
      if (stage === 'last') {
        reply.last()
        continue
      }
      if (stage === 'done') reply.release()
      break
    }
    yield reader.end()
    pass.succeeded()
  } catch (error) {
    judge(error, pass, signal)
    if (!signal.aborted) throw error
    yield usedEvents(job.meter.left())
    throw signal.reason
  } finally {
    // Left by its reader: that says nothing of the upstream.
    pass.dropped()
    reply?.abort()
    calls.leave()
  }
}

/** The bound on calls and the breaker; who enters leaves `calls` again. */
function createEntrance({ name, connectionsMax }: ProviderConfig, { clock }: UpstreamDeps) {
  const breaker = createBreaker(name, clock)
  const calls = createCalls(name, connectionsMax ?? CONNECTIONS_MAX)
  const enter = (): Pass => {
    calls.enter()
    try {
      return breaker.enter()
    } catch (error) {
      calls.leave()
      throw error
    }
  }
  return { breaker, calls, enter }
}

type UsedEvent = { readonly kind: 'used' } & Usage
type Job<Event> = {
  readonly question: Question
  readonly meter: Meter
  readonly reader: (contentType: string) => AnswerReader<Event>
}

const NDJSON = 'application/x-ndjson'
const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'

const tooLong = () =>
  fault('upstream_failed', `Could not read the upstream: over ${ANSWER_BYTES_MAX} bytes`)

/** A cell that refuses a request has read it, and says what that took. */
function refusedEvents({ text }: Refusal, meter: Meter): UsedEvent[] {
  const figures = figuresIn(text)
  return usedEvents(figures === undefined ? undefined : meter.figures(figures))
}

const usedEvents = (used: Usage | undefined): UsedEvent[] =>
  used === undefined ? [] : [{ kind: 'used', ...used }]

const embeddingQuestion = (call: EmbeddingCall, { at }: ProviderConfig): Question => ({
  path: '/embeddings',
  accept: [NDJSON, JSON_TYPE],
  body: embeddingBody(call, at.kind === 'cell'),
})

const WHOLE = { stream: false }
const STREAMED = { stream: true, stream_options: { include_usage: true } }

function generationQuestion(call: GenerationCall, limitField = 'max_tokens'): Question {
  const { max_tokens, ...rest } = call.body
  return {
    path: call.shape === 'chat' ? '/chat/completions' : '/completions',
    accept: call.whole === true ? [JSON_TYPE, EVENTS] : [EVENTS],
    body: JSON.stringify({
      ...rest,
      ...(max_tokens === undefined ? {} : { [limitField]: max_tokens }),
      model: call.offer.upstreamId,
      ...(call.whole === true ? WHOLE : STREAMED),
    }),
  }
}

function meterOf({ name, at }: ProviderConfig, call: GenerationCall | EmbeddingCall): Meter {
  if (at.kind === 'cell') return cellMeter(name, call.promptTokensMax)
  const [answers, tokensMax] =
    'input' in call ? [call.input.length, 0] : [call.choices, call.tokensMax]
  return tokenMeter(
    call.offer,
    { meter: `upstream:${name}`, ...energyOf(at) },
    {
      promptBytes: call.promptBytes,
      promptTokensMax: call.promptTokensMax,
      contextTokens: call.offer.context * answers,
      tokensMax,
    },
  )
}

const energyOf = (at: Extract<ProviderConfig['at'], { kind: 'upstream' }>): EnergyElsewhere => ({
  method: 'model',
  bandPct: at.bandPct,
  ...(at.factor !== undefined && { factor: at.factor }),
})

/** Only the upstream's own failures count against it. */
function judge(error: unknown, pass: Pass, signal: AbortSignal): void {
  const isUpstreams =
    error instanceof ErgonError &&
    (error.code === 'upstream_failed' || error.code === 'upstream_timeout')
  if (isUpstreams && !signal.aborted) pass.failed()
  else pass.dropped()
}
