// A state for tests by URL: DATABASE_URL, or a cluster of the test's own.
import { readEnvironment } from '#config/env.ts'

import { cachedInstall, startTestServer, whyNoServer } from './testing.ts'

export type TestUrl = AsyncDisposable & {
  /** The URL with a schema as its search path. */
  readonly of: (schema: string) => string
}

const given = () => readEnvironment().databaseUrl

/** Why there can be no state here; to skip with. */
export const whyNoState = (): string | false => (given() === undefined ? whyNoServer() : false)

/** The server that tests use. */
export async function openTestUrl(
  settings: Readonly<Record<string, string>> = {},
): Promise<TestUrl> {
  const url = given()
  if (url !== undefined)
    return { of: (schema) => withPath(url, schema), [Symbol.asyncDispose]: async () => {} }
  const server = await startTestServer(await cachedInstall(), settings)
  const { user, password } = server.superuser
  const own = `postgres://${user}:${encodeURIComponent(password)}@localhost/postgres?host=${encodeURIComponent(server.socketFolder)}`
  return {
    of: (schema) => withPath(own, schema),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function withPath(url: string, schema: string): string {
  const full = new URL(url)
  full.searchParams.set('options', `-c search_path=${schema}`)
  return full.href
}
