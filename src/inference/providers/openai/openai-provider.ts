// One provider for every OpenAI-shaped server: our model cells on unix sockets, and vLLM, SGLang, llama-server, Ollama
// or OpenAI over HTTP. Answers are read as streams, so that the use of a caller who leaves is known. A short answer of
// an upstream that counts its tokens may be asked for in one piece.
import { ErgonError, present } from '#base/errors.ts'
import { Steps } from '#base/steps.ts'
import { fault } from '#contract/errors.ts'
import type { EnergyElsewhere } from '#charging/spend.ts'
import { createBreaker, type Pass } from '#inference/providers/breaker.ts'
import { createCalls, type Calls } from './calls.ts'
import { createEmbeddingReader, embeddingBody } from './embeddings.ts'
import { createGenerationReader } from './generation-reader.ts'
import { cellMeter, tokenMeter, type AnswerMeter } from './meter.ts'
import { createWholeReader } from './whole-reader.ts'
import type {
  AnswerReader,
  EmbeddingCall,
  GenerationCall,
  Provider,
  ProviderConfig,
  Usage,
} from '#inference/providers/provider.ts'
import {
  UPSTREAM_CONNECTIONS_MAX,
  createUpstream,
  type ServerRequest,
  type ServerRefusal,
  type Upstream,
  type UpstreamDeps,
} from './upstream.ts'
import { figuresIn } from './upstream-error.ts'
import type { UpstreamReply } from './upstream-http.ts'

const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** A provider with its own connections and breaker. */
export function createOpenaiProvider(config: ProviderConfig, deps: UpstreamDeps): Provider {
  const upstream = createUpstream(config, deps)
  const { breaker, calls, enter } = createEntrance(config, deps)
  let countsTokens = true

  const ask = <Event>(job: CallPlan<Event>, signal: AbortSignal) =>
    new AnswerSteps({ upstream, calls, enter }, job, signal)

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
      // Each piece of a stream is a token: an upstream that does not count tokens is asked for streams from now on.
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
      upstream.close()
    },
  }
}

type ProviderServer = {
  readonly upstream: Upstream
  readonly calls: Calls
  readonly enter: () => Pass
}

/** One call, from its request to the end of its events, under the breaker. */
class AnswerSteps<Event> extends Steps<readonly (Event | UsedEvent)[]> {
  readonly #server: ProviderServer
  readonly #job: CallPlan<Event>
  readonly #signal: AbortSignal
  #pass: Pass | undefined
  #reply: UpstreamReply | undefined
  #reader: AnswerReader<Event> | undefined
  #bytes = 0
  /** Nothing of the answer is to come but its end. */
  #isRead = false
  /** The next step: the end, or its error. */
  #over: { readonly error?: unknown } | undefined

  constructor(server: ProviderServer, job: CallPlan<Event>, signal: AbortSignal) {
    super()
    this.#server = server
    this.#job = job
    this.#signal = signal
  }

  next(): Step<Event> | Promise<Step<Event>> {
    if (this.#over !== undefined) return this.#end()
    const failed = (error: unknown) => this.#failed(error)
    try {
      const step = this.#pass === undefined ? this.#ask() : this.#read()
      return step instanceof Promise ? step.catch(failed) : step
    } catch (error) {
      return failed(error)
    }
  }

  /** Left by its reader: that says nothing of the upstream. */
  dispose(): void {
    const pass = this.#pass
    this.#over ??= {}
    if (pass === undefined) return
    this.#pass = undefined
    pass.dropped()
    void this.#reply?.body.dispose()
    this.#server.calls.leave()
  }

  #end(): undefined {
    const { error } = this.#over ?? {}
    this.#over = {}
    this.dispose()
    // A caller who has left hears that, whatever a server says of it.
    if (error !== undefined) throw this.#signal.aborted ? this.#signal.reason : error
    return undefined
  }

  #ask(): Promise<Step<Event>> {
    const { meter, question } = this.#job
    this.#pass = this.#server.enter()
    return this.#server.upstream
      .ask({ ...question, sent: meter.asked }, this.#signal)
      .then((answer) => this.#answered(answer))
  }

  #answered(answer: UpstreamReply | ServerRefusal): Step<Event> | Promise<Step<Event>> {
    const { meter, reader } = this.#job
    if ('refusal' in answer) {
      this.#judge(answer.refusal)
      this.#over = { error: answer.refusal }
      return refusedEvents(answer, meter)
    }
    this.#reply = answer
    this.#reader = reader(answer.header('content-type') ?? '')
    return this.#over === undefined ? this.#read() : (void answer.body.dispose(), undefined)
  }

  /** The events of the received bytes, once there are some. */
  #read(): Step<Event> | Promise<Step<Event>> {
    const { body } = present(this.#reply, 'a call is answered before it is read')
    while (!this.#isRead) {
      const bytes = body.next()
      if (bytes instanceof Promise) return bytes.then((came) => this.#take(came) ?? this.#read())
      const events = this.#take(bytes)
      if (events !== undefined) return events
    }
    const events = present(this.#reader, 'an answer has a reader').end()
    this.#pass?.succeeded()
    this.#over = {}
    return events
  }

  #take(bytes: Buffer | undefined): Step<Event> {
    if (bytes === undefined) {
      this.#isRead = true
      return undefined
    }
    this.#bytes += bytes.length
    if (this.#bytes > ANSWER_BYTES_MAX) throw tooLong()
    const reader = present(this.#reader, 'an answer has a reader')
    const events = reader.push(bytes)
    const stage = reader.stage()
    if (stage === 'last') this.#reply?.last()
    if (stage === 'done') this.#reply?.release()
    this.#isRead = stage === 'done' || stage === 'enough'
    return events.length > 0 ? events : undefined
  }

  #failed(error: unknown): Step<Event> {
    this.#judge(error)
    this.#over = { error }
    return this.#signal.aborted ? usedEvents(this.#job.meter.left()) : this.#end()
  }

  /** Only the upstream's own failures count against it. */
  #judge(error: unknown): void {
    const isUpstreams =
      error instanceof ErgonError &&
      (error.code === 'upstream_failed' || error.code === 'upstream_timeout')
    if (isUpstreams && !this.#signal.aborted) this.#pass?.failed()
    else this.#pass?.dropped()
  }
}

type Step<Event> = readonly (Event | UsedEvent)[] | undefined

/** The bound on calls and the breaker; each entry leaves `calls` again. */
function createEntrance({ name, connectionsMax }: ProviderConfig, { clock }: UpstreamDeps) {
  const breaker = createBreaker(name, clock)
  const calls = createCalls(name, connectionsMax ?? UPSTREAM_CONNECTIONS_MAX)
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
type CallPlan<Event> = {
  readonly question: ServerRequest
  readonly meter: AnswerMeter
  readonly reader: (contentType: string) => AnswerReader<Event>
}

const NDJSON = 'application/x-ndjson'
const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'

const tooLong = () =>
  fault('upstream_failed', `Could not read the upstream: over ${ANSWER_BYTES_MAX} bytes`)

/** A cell that refuses a request has read the request, and reports the energy of reading. */
function refusedEvents({ text }: ServerRefusal, meter: AnswerMeter): UsedEvent[] {
  const figures = figuresIn(text)
  return usedEvents(figures === undefined ? undefined : meter.figures(figures))
}

const usedEvents = (used: Usage | undefined): UsedEvent[] =>
  used === undefined ? [] : [{ kind: 'used', ...used }]

const embeddingQuestion = (call: EmbeddingCall, { at }: ProviderConfig): ServerRequest => ({
  path: '/embeddings',
  accept: [NDJSON, JSON_TYPE],
  body: embeddingBody(call, at.kind === 'cell'),
})

const WHOLE = { stream: false }
const STREAMED = { stream: true, stream_options: { include_usage: true } }

function generationQuestion(call: GenerationCall, limitField = 'max_tokens'): ServerRequest {
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

function meterOf({ name, at }: ProviderConfig, call: GenerationCall | EmbeddingCall): AnswerMeter {
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
