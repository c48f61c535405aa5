// The incidents as RSS 2.0, and the parts that are down: an item for each. That of an incident is anew unread after an
// update.
import type { ShownPart, StatusDocument } from './document.ts'
import type { PublicIncident } from '#status/incident-columns.ts'
import { markup, NOTHING, type Markup } from './html.ts'

/** `url` is the public address of the page. */
export function feedOf(document: StatusDocument, url: string): string {
  const { incidents, parts, written_at: writtenAt } = document
  const root = url.endsWith('/') ? url : `${url}/`
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>Ergon status</title>
<link>${root}</link>
<description>Incidents of the service, and parts that are down</description>
<language>en</language>
<lastBuildDate>${rfc822(writtenAt)}</lastBuildDate>
<atom:link href="${root}feed.rss" rel="self" type="application/rss+xml"/>
${incidents.map((incident) => item(incident, root))}${parts.map((part) => downItem(part, root))}
</channel>
</rss>
`.text
}

const rfc822 = (time: string): string => new Date(time).toUTCString()

/** Nothing of a part that works, and of one whose begin of the trouble is not known. */
function downItem({ id, name, state, since }: ShownPart, root: string): Markup {
  if (state !== 'down' || since === null) return NOTHING
  return markup`<item>
<title>${name}: down</title>
<link>${root}</link>
<guid isPermaLink="false">${id}-${since}</guid>
<pubDate>${rfc822(since)}</pubDate>
<description>${`Measured since ${since}.`}</description>
</item>
`
}

function item(incident: PublicIncident, root: string): Markup {
  const { id, region, summary, ended_at: endedAt, lost, unbilled, updates } = incident
  const changedAt = [
    incident.started_at,
    ...updates.map(({ at }) => at),
    ...(endedAt === null ? [] : [endedAt]),
  ]
    .toSorted()
    .at(-1)
  const text = [
    `Region ${region}, since ${incident.started_at}, ${endedAt === null ? 'open' : `until ${endedAt}`}.`,
    ...(lost === null ? [] : [`Lost: ${lost}`]),
    ...(unbilled === null ? [] : [`Not billed: ${unbilled}`]),
    ...updates.map(({ at, words }) => `${at}: ${words}`),
  ]
  return markup`<item>
<title>${endedAt === null ? summary : `Closed: ${summary}`}</title>
<link>${root}#${id}</link>
<guid isPermaLink="false">${id}-${changedAt ?? ''}</guid>
<pubDate>${rfc822(changedAt ?? incident.started_at)}</pubDate>
<description>${text.join('\n')}</description>
</item>
`
}
