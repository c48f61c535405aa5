// The status page as HTML: no script, no font, nothing from elsewhere, so that the file alone is the page.
import { daysPicture } from './bars.ts'
import type { ShownPart, ShownRate, StatusDocument } from './document.ts'
import type { PublicIncident } from '#status/incident-columns.ts'
import { Markup, markup, NOTHING } from './html.ts'
import { STYLE } from './style.ts'

const WORDS = {
  ok: 'Working',
  degraded: 'Degraded',
  down: 'Down',
  unknown: 'Not measured',
} as const
type StateWord = keyof typeof WORDS

const LOGO = markup`<svg viewBox="0 0 26 26" aria-hidden="true"><path fill="#ffcc1a" d="M0 0h26v26H0z"/><path stroke="#12181a" stroke-width="4" d="M13 4.5V22"/><path stroke="#12181a" stroke-width="1.7" d="M4.4 16v6M8.2 16v6M17.8 16v6M21.6 16v6"/></svg>`
/** Shape says the state beside colour and word. */
const SIGNS: Readonly<Record<StateWord, Markup>> = {
  ok: markup`<path d="M3 8.5l3.2 3.2L13 4.8"/>`,
  degraded: markup`<path d="M8 2.5L14 13.5H2zM8 6.5v3.5M8 11v1.4"/>`,
  down: markup`<path d="M3.5 3.5l9 9M12.5 3.5l-9 9"/>`,
  unknown: markup`<path d="M3 8h10"/>`,
}
const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`)

const wordOf = (state: ShownPart['state']): StateWord => state ?? 'unknown'
const sign = (word: StateWord) =>
  markup`<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">${SIGNS[word]}</svg>`
const stateMark = (word: StateWord) =>
  markup`<span class="state ${word}">${sign(word)}${WORDS[word]}</span>`

/** 2026-11-26T01:02:03.000Z as 26 Nov 2026, 01:02:03 UTC. */
function clockText(time: string): string {
  const [, date = '', clock = ''] =
    /^\w+, (.*) (\d\d:\d\d:\d\d) GMT$/.exec(new Date(time).toUTCString()) ?? []
  return `${date.replace(/^0/, '')}, ${clock} UTC`
}
const timeElement = (time: string) => markup`<time datetime="${time}">${clockText(time)}</time>`

/** The whole file. */
export function pageHtml(document: StatusDocument): string {
  const { verdict, written_at: writtenAt } = document
  const word = wordOf(verdict.state)
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${verdict.text} · Ergon status</title>
<link rel="alternate" type="application/rss+xml" title="Incidents" href="/feed.rss">
${STYLE_ELEMENT}
</head>
<body>
<div class="page">
<header class="top">${LOGO}<span>ergon status</span><nav aria-label="Other forms"><a href="/status.json">JSON</a><a href="/feed.rss">RSS</a></nav></header>
<main>
<div class="verdict"><span class="sign ${word}">${sign(word)}</span><div><h1>${verdict.text}</h1>
<p class="note">Written ${timeElement(writtenAt)}. This page is a file that is written anew each minute. Where this time is more than 3 minutes ago, the writer itself does not run: the page then shows what was last known, and the service may be down.</p>${stateNote(document)}</div></div>
${partsSection(document)}
${incidentsSection(document)}
${regionsSection(document)}
${ratesSection(document)}
</main>
</div>
</body>
</html>
`.text
}

/** Content that does not come from measurements may be older than the page. */
function stateNote({
  written_at: writtenAt,
  state_answered_at: answeredAt,
}: StatusDocument): Markup {
  if (answeredAt === writtenAt) return NOTHING
  if (answeredAt === null)
    return markup`<p class="note">Incidents and error rates are not known: the state has not answered yet.</p>`
  return markup`<p class="note">Incidents and error rates are of ${timeElement(answeredAt)}: the state does not answer.</p>`
}

const partsSection = ({ parts }: StatusDocument): Markup =>
  markup`<section aria-labelledby="parts"><div class="head"><h2 id="parts">Parts, 90 days</h2><span class="from">A low bar is a day without trouble</span></div>
<ul>
${parts.map(partItem)}
</ul>
<p class="from">Half a bar: 2 minutes of trouble or more. A full bar: down for 10 minutes or more. Hollow: a day on which the part was not in use, which is in no percentage. Once a part is in use, time in which the whole node was off counts as down.</p>
</section>`

function partItem(part: ShownPart): Markup {
  const up =
    part.up_percent === null
      ? ''
      : `${part.up_percent}\u{a0}% of ${timeWords(part.measured_seconds)}`
  const troubled = part.days.filter(({ state }) => state === 'degraded' || state === 'down').length
  const days = troubled === 1 ? 'one day' : `${troubled} days`
  const label =
    part.up_percent === null
      ? `${part.name}: not measured`
      : `${part.name}: up ${up}, trouble on ${days}`
  return markup`<li class="part${part.within === null ? '' : ' sub'}"><h3>${part.name}</h3>${stateMark(wordOf(part.state))}${daysPicture(part, label)}<span class="up">${up}</span></li>
`
}

const MINUTE_S = 60
const HOUR_S = 3600
const DAY_S = 86_400

/** The measured time, cut off to days, hours or minutes: a new service has not been up for a day. */
function timeWords(seconds: number): string {
  const count = (size: number) => Math.max(1, Math.floor(seconds / size))
  if (seconds < HOUR_S) return `${count(MINUTE_S)}\u{a0}min`
  if (seconds < DAY_S) return `${count(HOUR_S)}\u{a0}h`
  return count(DAY_S) === 1 ? '1\u{a0}day' : `${count(DAY_S)}\u{a0}days`
}

const incidentsSection = ({ incidents }: StatusDocument): Markup =>
  markup`<section aria-labelledby="incidents"><div class="head"><h2 id="incidents">Incidents</h2></div>
${incidents.length === 0 ? markup`<p>None is known.</p>` : incidents.map(incidentItem)}
</section>`

function incidentItem(incident: PublicIncident): Markup {
  const { started_at: startedAt, ended_at: endedAt, lost, unbilled, updates } = incident
  const until = endedAt === null ? markup`open` : markup`until ${timeElement(endedAt)}`
  const updateItems = updates.map(
    ({ at, words }) => markup`<li><span class="from">${timeElement(at)}</span> ${words}</li>`,
  )
  return markup`<article class="incident" id="${incident.id}"><h3>${incident.summary}</h3>
<p class="from">Region ${incident.region}, since ${timeElement(startedAt)}, ${until}</p>
${lost === null ? NOTHING : markup`<p>Lost: ${lost}</p>`}${unbilled === null ? NOTHING : markup`<p>Not billed: ${unbilled}</p>`}${updateItems.length === 0 ? NOTHING : markup`<ol>${updateItems}</ol>`}
</article>`
}

const regionsSection = ({ regions }: StatusDocument): Markup =>
  markup`<section aria-labelledby="regions"><div class="head"><h2 id="regions">Regions</h2></div>
<ul class="regions">
${regions.map(({ name, state }) => markup`<li><span>${name}</span>${regionMark(state)}</li>`)}
</ul>
</section>`

const regionMark = (state: 'ok' | 'degraded'): Markup =>
  markup`<span class="state ${state}">${sign(state)}${state === 'ok' ? 'No incident' : 'Degraded'}</span>`

function ratesSection({
  error_rates: { hours, requests_least: least, accounts },
}: StatusDocument): Markup {
  const table = markup`<table><thead><tr><th scope="col">Public name</th><th scope="col" class="num">Requests</th><th scope="col" class="num">Failed</th></tr></thead>
<tbody>
${accounts.map(rateRow)}
</tbody></table>`
  return markup`<section aria-labelledby="rates"><div class="head"><h2 id="rates">Errors by account</h2></div>
<p class="note">Answers of 500 and above, time-outs among them, in the last ${hours} hours. Each owner sees the public name of an account with <code>ergon account error-rate</code>. Accounts with fewer than ${least} requests are not shown, and numbers of requests are rounded down.</p>
${accounts.length === 0 ? markup`<p>No account has as many requests.</p>` : table}
</section>`
}

const rateRow = (rate: ShownRate): Markup =>
  markup`<tr><td class="id">${rate.public_name}</td><td class="num">${rate.requests_at_least.toLocaleString('en')}+</td><td class="num">${rate.failed_percent}\u{a0}%</td></tr>
`
