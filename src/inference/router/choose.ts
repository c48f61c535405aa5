// Which offer serves a request. A named model is that model and nothing else; `auto` is the cheapest
// capable offer of the request's tier, with the others behind it for when it fails.
import { printJoules, type Nj } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import type { Tier } from '#contract/ledger/charge.ts'
import { AUTO, type ModelOffer } from '#inference/catalogue.ts'
import type { Learned, Tokens } from '#inference/learned.ts'
import { misfitOf, type RequestFacts } from './rules.ts'

export type Choice = {
  /** In the order to try. A named model has one. */
  readonly offers: readonly [ModelOffer, ...ModelOffer[]]
  readonly tier: Tier
  /** The reason for the tier. */
  readonly because: string
  /** X-Router-Reason, when the first offer serves. */
  readonly reason: string
}

export type RoutingRequest = {
  readonly model: string
  readonly facts: RequestFacts
  /** The expected work, for comparing costs, without the servers' additions to each prompt. */
  readonly tokens: Tokens
  readonly prompts: number
}

const LOADING_RETRY_S = 2
/** The number of model names in the error for an unknown model. */
const NAMES_MAX = 10

/** Offers that are left alone for now, as after failures in a row; `auto` takes others while there are some. */
export type IsResting = (offer: ModelOffer) => boolean

/**
 * Throws model_not_found, model_loading, model_not_available, or the fault that keeps a named model from the request.
 */
export function choose(
  offers: readonly ModelOffer[],
  question: RoutingRequest,
  learned: Learned,
  rests: IsResting,
): Choice {
  return question.model === AUTO
    ? chooseAuto(offers, question, learned, rests)
    : chooseNamed(offers, question)
}

function chooseNamed(offers: readonly ModelOffer[], { model, facts }: RoutingRequest): Choice {
  const offer = offers.find(({ id }) => id === model)
  if (offer === undefined) throw unknownModel(offers, model)
  const misfit = misfitOf(offer, facts)
  if (misfit !== undefined)
    throw fault(misfit.code, `Could not serve this with ${model}: ${misfit.why}`, {
      param: misfit.param,
    })
  if (offer.state === 'loading') throw loading([offer])
  if (offer.state === 'failed') throw failed(offer)
  const because = facts.tier
  return {
    offers: [offer],
    tier: facts.tier,
    because,
    reason: `${because}; model named by the caller`,
  }
}

function chooseAuto(
  offers: readonly ModelOffer[],
  question: RoutingRequest,
  learned: Learned,
  rests: IsResting,
): Choice {
  const { facts } = question
  const fitting = offers.filter((offer) => misfitOf(offer, facts) === undefined)
  const ready = fitting.filter(({ state }) => state === 'ready')
  if (ready.length === 0) {
    const waiting = fitting.filter(({ state }) => state === 'loading')
    throw waiting.length > 0 ? loading(waiting) : nothingServes(offers, facts)
  }
  // Vectors of two models do not compare: embeddings have one model, the first of the catalogue.
  if (facts.asks === 'embedding') return chooseEmbedding(fitting, facts)
  const awake = ready.filter((offer) => !rests(offer))
  const able = awake.length > 0 ? awake : ready
  const [first, ...others] = byTools(able, facts).flatMap((each) => ranked(each, question, learned))
  if (first === undefined) throw nothingServes(offers, facts)
  return {
    offers: [first, ...others],
    tier: facts.tier,
    because: becauseOf(facts),
    reason: reasonOf(first, able, facts, learned),
  }
}

/** Tools go to models that were trained for them, then to the others. */
function byTools(
  offers: readonly ModelOffer[],
  { tools }: RequestFacts,
): (readonly ModelOffer[])[] {
  if (!tools) return [offers]
  const isTrained = (offer: ModelOffer) => offer.tools === 'trained'
  return [offers.filter(isTrained), offers.filter((offer) => !isTrained(offer))]
}

function chooseEmbedding(fitting: readonly ModelOffer[], facts: RequestFacts): Choice {
  const [offer] = fitting
  if (offer === undefined) throw nothingServes([], facts)
  if (offer.state === 'loading') throw loading([offer])
  if (offer.state === 'failed') throw failed(offer)
  const because = becauseOf(facts)
  const reason = `${because}; ${offer.id} is the default embedding model`
  return { offers: [offer], tier: facts.tier, because, reason }
}

/** Trusted offers by cost; behind them the weaker ones, the strongest first. */
function ranked(
  ready: readonly ModelOffer[],
  question: RoutingRequest,
  learned: Learned,
): ModelOffer[] {
  const cost = new Map(ready.map((offer) => [offer.id, costOf(offer, question, learned)]))
  const byCost = (a: ModelOffer, b: ModelOffer): number => {
    const [costA, costB] = [cost.get(a.id) ?? 0n, cost.get(b.id) ?? 0n]
    return costA < costB ? -1 : costA > costB ? 1 : 0
  }
  const { tier } = question.facts
  const trusted = ready.filter((offer) => offer.tier >= tier).toSorted(byCost)
  if (trusted.length > 0) return trusted
  return ready.toSorted((a, b) => b.tier.localeCompare(a.tier) || byCost(a, b))
}

function costOf(offer: ModelOffer, { tokens, prompts }: RoutingRequest, learned: Learned): Nj {
  const prompt = tokens.prompt + prompts * learned.overheadTokens(offer)
  return learned.estimate(offer, { ...tokens, prompt }, 0.5)
}

const becauseOf = ({ tier, because }: RequestFacts) => `${tier}: ${because}`

/** A model by its name, marked when it is a demo model. */
export const nameOf = ({ id, class: kind }: ModelOffer): string =>
  kind === 'demo' ? `${id} (demo model)` : id

function reasonOf(
  chosen: ModelOffer,
  ready: readonly ModelOffer[],
  facts: RequestFacts,
  learned: Learned,
): string {
  const why = becauseOf(facts)
  if (chosen.tier < facts.tier)
    return `${why}; no better model is ready than ${nameOf(chosen)}, meant for ${chosen.tier}`
  const capable = ready.filter((offer) => offer.tier >= facts.tier).length
  const { p50, samples } = learned.perThousandTokens(chosen)
  const basis = samples > 0 ? 'measured' : 'catalogue'
  const cheapest =
    capable === 1 ? 'the only capable model' : `cheapest of ${capable} capable models`
  return `${why}; ${nameOf(chosen)} is ${cheapest} at ${printJoules(p50)} J/1k tokens (${basis})`
}

const loading = (offers: readonly ModelOffer[]) =>
  fault('model_loading', `Could not serve ${offers.map(({ id }) => id).join(', ')} yet: loading`, {
    retryAfterS: Math.min(...offers.map(({ retryAfterS }) => retryAfterS ?? LOADING_RETRY_S)),
  })

const failed = ({ id, reason }: ModelOffer) =>
  fault('model_not_available', `Could not serve ${id}: ${reason ?? 'it does not run'}`)

export function unknownModel(offers: readonly ModelOffer[], model: string) {
  const all = [AUTO, ...offers.map(({ id }) => id)]
  const more = all.length > NAMES_MAX ? ` and ${all.length - NAMES_MAX} more` : ''
  const names = all.slice(0, NAMES_MAX).join(', ') + more
  // The command is for copying into a shell, and the name is the caller's.
  const alias = PLAIN_NAME.test(model) ? model : '<name>'
  return fault(
    'model_not_found',
    `Could not find the model ${model}: there are ${names}. Name one of them; \`auto\` chooses a model for each request. The operator can serve this name too: \`ergon models alias add ${alias} <model>\``,
    { param: 'model' },
  )
}

const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/

/**
 * The error when nothing is ready for a request. A request that no model here could ever serve is the caller's to
 * change, and another attempt is of no use; else the error's own text says how to add a model.
 */
function nothingServes(offers: readonly ModelOffer[], facts: RequestFacts) {
  const near = offers.filter(({ modalities }) => modalities.includes(facts.asks))
  const misfits = near.flatMap((offer) => misfitOf(offer, facts) ?? [])
  const [closest] = misfits
  if (closest !== undefined && misfits.length === near.length)
    throw fault(closest.code, `Could not serve this with any model: ${closest.why}`, {
      param: closest.param,
    })
  const broken = near.find(({ state }) => state === 'failed')
  const why =
    broken === undefined ? 'there is none' : `${broken.id}: ${broken.reason ?? 'it does not run'}`
  return fault('model_not_available', `Could not serve ${facts.asks}: ${why}`)
}
