// A state for tests by URL: DATABASE_URL, or a cluster of the test's own.
import { readEnvironment } from '#config/env.ts'

import { cachedInstall, startTestServer, type TestServer, whyNoServer } from './testing.ts'

export type TestUrl = AsyncDisposable & {
  /** The URL with a schema as its search path. */
  readonly of: (schema: string) => string
}

const given = () => readEnvironment().databaseUrl

/** Why there can be no state here; to skip with. */
export const whyNoState = (): string | false => (given() === undefined ? whyNoServer() : false)

// A start takes 0.8 s of CPU, and schemas keep the files of a process apart.
let isKept = false
let kept: Promise<TestServer> | undefined

/** From now on every test of this process gets the same server, until this is disposed of. */
export function keepTestServer(): AsyncDisposable {
  isKept = true
  return {
    async [Symbol.asyncDispose]() {
      const server = await kept?.catch(() => undefined)
      await server?.[Symbol.asyncDispose]()
    },
  }
}

/**
 * The server that tests use, without fsync where no settings are given. A kept one has the settings of the
 * first who asked.
 */
export async function openTestUrl(
  settings: Readonly<Record<string, string>> = { fsync: 'off' },
): Promise<TestUrl> {
  const url = given()
  if (url !== undefined)
    return { of: (schema) => withPath(url, schema), [Symbol.asyncDispose]: async () => {} }
  const server = isKept ? await (kept ??= start(settings)) : await start(settings)
  const { user, password } = server.superuser
  const own = `postgres://${user}:${encodeURIComponent(password)}@localhost/postgres?host=${encodeURIComponent(server.socketFolder)}`
  return {
    of: (schema) => withPath(own, schema),
    [Symbol.asyncDispose]: async () => {
      if (!isKept) await server[Symbol.asyncDispose]()
    },
  }
}

const start = async (settings: Readonly<Record<string, string>>): Promise<TestServer> =>
  await startTestServer(await cachedInstall(), settings)

function withPath(url: string, schema: string): string {
  const full = new URL(url)
  full.searchParams.set('options', `-c search_path=${schema}`)
  return full.href
}
