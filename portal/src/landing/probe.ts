// The last request that this installation made of itself, in the places that the landing page has for it. Without one the
// section is hidden: no figure here is made up.
import { asMuchAs } from '../figures/as-much-as.ts'
import { carbonShort } from '../figures/carbon.ts'
import { joules } from '../figures/energy.ts'
import { knownBy, knownWords, registerOf, spoken, type Figure } from '../figures/known.ts'
import { moneyExact } from '../figures/money.ts'

/** GET /v1/probe, which anyone may read. */
type Probe = {
  readonly model: string
  readonly energy_nj: string
  readonly carbon_pg: string
  readonly charge_pusd: string
  readonly method: string
  readonly band_pct: number
  readonly routed_to: string
  readonly receipt_id: string
}

export async function showProbe(): Promise<void> {
  const answer = await fetch('/v1/probe').catch(() => undefined)
  if (answer?.ok !== true) {
    at('probe').hidden = true
    return
  }
  const probe = (await answer.json()) as Probe
  const figure: Figure = {
    nj: BigInt(probe.energy_nj),
    known: knownBy(probe.method),
    bandPct: probe.band_pct,
  }
  at('probe-asked').textContent = `The last request to ${probe.model} here took`
  showDigits(figure)
  at('probe-strip').classList.remove('still')
  at('probe-under').replaceChildren(...linesOf(probe, figure).map(item))
  at('header-joules').textContent = joules(figure.nj)
  at('header-method').textContent = `${probe.method}; band=${probe.band_pct}%`
  at('header-route').textContent = probe.routed_to
  at('header-receipt').textContent = probe.receipt_id
}

function showDigits(figure: Figure): void {
  const { heavy, light } = registerOf(figure)
  const digits = at('probe-digits')
  digits.style.setProperty('--digits', String(heavy.length + light.length))
  digits.replaceChildren(made('b', heavy), made('i', light), made('span', 'joules', 'unit'))
  at('probe-spoken').textContent = spoken(figure)
}

function linesOf(probe: Probe, figure: Figure): string[] {
  const like = asMuchAs(figure.nj)
  return [
    moneyExact(BigInt(probe.charge_pusd)),
    carbonShort(BigInt(probe.carbon_pg)),
    ...(like === undefined ? [] : [`as much as ${like}`]),
    knownWords(figure),
    'heavy digits are known, light ones lie inside the band',
  ]
}

const item = (text: string): HTMLElement => made('li', text)

function made(tag: string, text: string, name = ''): HTMLElement {
  const element = document.createElement(tag)
  element.textContent = text
  element.className = name
  return element
}

function at(id: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(`#${id}`)
  if (found === null) throw new TypeError(`The page has no #${id}`)
  return found
}
