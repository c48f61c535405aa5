// The status page of a running product, as a reader gets it.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { StatusDocument } from '#status/page/document.ts'
import type { Ergon } from '../start-ergon.ts'

/** A page is written each second. */
export const EACH_SECOND = { ERGON_STATUS_SECONDS: '1' }
const SHOWS_MS_MAX = 60_000
const AGAIN_MS = 300

/** Its address on loopback: `status.localhost` is known to browsers, and not to every resolver. */
export const statusAddress = ({ port }: Pick<Ergon, 'port'>): string =>
  `http://127.0.0.1:${port + 4}`

export async function readStatus(ergon: Pick<Ergon, 'port'>): Promise<StatusDocument> {
  const answer = await fetch(`${statusAddress(ergon)}/status.json`)
  assert.equal(answer.status, 200)
  return (await answer.json()) as StatusDocument
}

/** Resolves with the first document that shows it; `meanwhile` runs before each try. */
export async function untilShown(
  ergon: Pick<Ergon, 'port'>,
  shows: (document: StatusDocument) => boolean,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<StatusDocument> {
  const endMs = performance.now() + SHOWS_MS_MAX
  for (;;) {
    await meanwhile()
    const document = await readStatus(ergon)
    if (shows(document)) return document
    assert.ok(
      performance.now() < endMs,
      `the page shows ${JSON.stringify(document).slice(0, 2000)}`,
    )
    await pause(AGAIN_MS)
  }
}

export const stateOf = (document: StatusDocument, id: string) =>
  document.parts.find((part) => part.id === id)?.state
