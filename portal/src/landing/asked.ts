// The register of the landing page: the energy of the installation's latest probe of itself.
import type { ProbeReply } from '#contract/status/probe.ts'
import { priceOf } from '#console/client/terms.ts'
import { dayAndClock } from '#console/figures/time.ts'
import { howOf, knownWords, registerOf, spoken } from '#console/figures/known.ts'

const ASKED = 'inference'
const ANSWER_MS_MAX = 10_000

/** Fills the places of the page; without an answer they stay as they are. */
export async function showAsked(): Promise<void> {
  const [register, how] = ['asked', 'asked-how'].map((id) => document.querySelector(`#${id}`))
  const answer = await fetch('/v1/probe', { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
  if (!answer.ok || register == null || how == null) return
  const { components } = (await answer.json()) as ProbeReply
  const last = components.find(({ id }) => id === ASKED)?.last ?? null
  if (last === null) return
  const figure = { nj: BigInt(last.energy_nj), ...howOf(last) }
  const { heavy, light } = registerOf(figure)
  const digits = part('span', '', 'digits')
  digits.ariaHidden = 'true'
  digits.append(part('b', heavy), part('i', light), part('span', 'joules', 'unit'))
  register.replaceChildren(digits, part('span', spoken(figure), 'spoken'))
  const price = priceOf(figure.nj)
  how.textContent =
    (price === undefined ? '' : `That costs ${price}. `) +
    `The last answer came after ${last.duration_ms} ms, on ${dayAndClock(new Date(last.at))}: ` +
    `${knownWords(figure)}. This installation asks itself at a regular pace, and pays for it.`
}

function part(name: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(name)
  made.textContent = text
  made.className = className
  return made
}
