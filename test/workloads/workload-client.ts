// Workloads as their owners use them: the API, and requests to their hosts.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { createRests } from '../rests.ts'
import type { Ergon } from '../start-ergon.ts'

// A container has the least share of the CPU: beside five other programs a second of work takes 20 s.
const WAIT_MS = 120_000

export type ShownWorkload = {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly status: string
  readonly reason: string | null
  readonly instances: number
  readonly volumes: readonly { readonly used_bytes: number }[]
  readonly digest: string | null
  readonly version: number
  readonly live_version: number | null
  readonly versions: readonly { readonly version: number; readonly failure: string | null }[]
}

export type WorkloadAnswer = {
  readonly status: number
  readonly body: ShownWorkload & {
    readonly title?: string
    readonly detail?: string
    readonly code?: string
    readonly error?: {
      readonly message: string
      readonly code: string
      readonly param: string | null
    }
  }
}

export async function until<T>(
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  waitMs = WAIT_MS,
): Promise<T> {
  const lastMs = performance.now() + waitMs
  const rest = createRests()
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    assert.ok(performance.now() < lastMs, JSON.stringify(seen))
    await rest()
  }
}

export function workloadClient({ baseUrl, token }: Pick<Ergon, 'baseUrl' | 'token'>) {
  const api = async (method: string, path: string, body?: object): Promise<WorkloadAnswer> => {
    const answer = await fetch(`${baseUrl}/v1/workloads${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as WorkloadAnswer['body'] }
  }
  const show = async (name: string) => (await api('GET', `/${name}`)).body
  return {
    token,
    api,
    show,
    /** Deploys, and waits until the version answers or has failed. */
    async deploy(name: string, more: object): Promise<ShownWorkload> {
      const made = await api('POST', '', { name, ...more })
      assert.equal(made.status, 201, JSON.stringify(made.body))
      const { version } = made.body
      return await until(
        () => show(name),
        (one) =>
          one.live_version === version ||
          one.versions.find((kept) => kept.version === version)?.failure !== null,
      )
    },
    async lines(name: string): Promise<readonly string[]> {
      const answer = await fetch(`${baseUrl}/v1/workloads/${name}/logs?lines=2000`, {
        headers: { authorization: `Bearer ${token}` },
      })
      const { data } = (await answer.json()) as { data: { stream: string; text: string }[] }
      return data.map(({ stream, text }) => `${stream}: ${text}`)
    },
  }
}

/** A request with a Host of its own: no resolver needs to know the name. */
export function ask(url: string, path = '/'): Promise<{ status: number; text: string }> {
  const { host, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
      textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}
