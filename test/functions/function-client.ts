// Steps that tests of functions share: deploy a module, wait, call it, read its log.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { FunctionReply } from '#contract/functions/functions.ts'
import { CHANGE_UNDER_WAY } from '#contract/resources/passing-reasons.ts'
import { createRests } from '../rests.ts'
import type { Ergon } from '../start-ergon.ts'

/** A cell is charged by the minute. */
const WAIT_MS = 90_000

export type Answered = {
  readonly status: number
  readonly body: FunctionReply & { title?: string }
}

/** Waits until what is seen holds; fails with what was seen last. */
export async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const lastMs = performance.now() + WAIT_MS
  const rest = createRests()
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    assert.ok(performance.now() < lastMs, JSON.stringify(seen))
    await rest()
  }
}

/** Writes files of a test into a folder of its own; returns the path of each. */
export function testFiles(): (name: string, text: string) => string {
  let folder = ''
  before(() => void (folder = mkdtempSync(join(tmpdir(), 'ergon-functions-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return (name, text) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
}

/** Functions of the first account, as its owner uses them. */
export function functionClient(ergonOf: () => Ergon) {
  const api = async (method: string, path: string, body?: object): Promise<Answered> => {
    const { baseUrl, token } = ergonOf()
    const answer = await fetch(`${baseUrl}/v1/functions${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Answered['body'] }
  }
  const show = async (name: string): Promise<FunctionReply> => (await api('GET', `/${name}`)).body
  const url = () => String(ergonOf().ready['functions_url'])
  return {
    api,
    show,
    url,
    /** The process of a function; 0 while it sleeps. */
    async pidOf(name: string): Promise<number> {
      const { id, live_version: live } = await show(name)
      return await ergonOf()
        .pidOf(`${id.replace('_', '-')}-${live}`)
        .catch(() => 0)
    },
    /** Deploys a module, and waits until the version answers or has failed. */
    async deploy(name: string, source: string, more: object = {}): Promise<FunctionReply> {
      const made = await api('POST', '', { name, file: 'index.mjs', source, ...more })
      assert.equal(made.status, 201, JSON.stringify(made.body))
      const { version } = made.body
      return await until(
        () => show(name),
        (one) =>
          one.reason !== CHANGE_UNDER_WAY &&
          (one.live_version === version || one.versions[0]?.failure !== null),
      )
    },
    async textAt(path: string, init?: RequestInit): Promise<[number, string]> {
      const answer = await fetch(url() + path, init)
      return [answer.status, await answer.text()]
    },
    logsOf: async (name: string): Promise<string> =>
      (await ergonOf().cli('fn', 'logs', name)).stdout,
  }
}
