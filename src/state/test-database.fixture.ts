// A migrated state of a test's own. To migrate takes 0.4 s of CPU and to copy a database 0.05 s, so on a
// server of our own it is done once for each list of schemas.
import { randomUUID } from 'node:crypto'
import { readEnvironment } from '#config/env.ts'
import { createLogger } from '#base/log.ts'
import { connectState, type State } from './connect.ts'
import { migrate } from './migrate.ts'
import type { Schema } from './schema.ts'

const log = createLogger('test', { level: 'error' })
/** The database that is copied, by the URL of the server and the areas. */
const made = new Map<string, Promise<string>>()

type Wanted = {
  /** The URL of a schema, of a server that is there for as long as the state is. */
  readonly urlOf: (schema: string) => string
  readonly schemas: readonly Schema[]
  readonly connections: number
}

/** Opens a new state, and says its URL. Dispose of it to drop it. */
export async function openTestState(wanted: Wanted): Promise<{ state: State; url: string }> {
  const { urlOf, connections } = wanted
  const name = `t_${randomUUID().replaceAll('-', '')}`
  // The owner of a given state need not let us create databases.
  const isOurs = readEnvironment().databaseUrl === undefined
  const url = isOurs ? databaseUrl(urlOf, name) : urlOf(name)
  const admin = open(urlOf('public'), 1)
  if (isOurs) await admin.query(`create database ${name} template ${await source(wanted)} ${FAST}`)
  else await admin.query(`create schema ${name}`)
  const state = open(url, connections)
  if (!isOurs) await migrate(state, wanted.schemas)
  const drop = isOurs
    ? `drop database ${name} with (force)`
    : `drop schema if exists ${name}, ${name}_tasks cascade`
  return {
    url,
    state: {
      ...state,
      async [Symbol.asyncDispose]() {
        await state[Symbol.asyncDispose]()
        await admin.query(drop)
        await admin[Symbol.asyncDispose]()
      },
    },
  }
}

// The other strategy writes each page to the log too.
const FAST = 'strategy file_copy'

// An operator's database may order texts by a language, where 'a' is before 'B'. Our own has the order of bytes.
const ORDER = "locale_provider icu icu_locale 'en-US' encoding 'UTF8'"

const open = (url: string, connections: number): State =>
  connectState({ address: { url }, connections, log })

function databaseUrl(urlOf: Wanted['urlOf'], name: string): string {
  const url = new URL(urlOf('public'))
  url.pathname = `/${name}`
  return url.href
}

/** The database to copy. Nobody may be connected to it, so it is left when it has been made. */
function source(wanted: Wanted): Promise<string> {
  const key = [wanted.urlOf('public'), ...wanted.schemas.map(({ area }) => area)].join(' ')
  const known = made.get(key)
  if (known !== undefined) return known
  const making = make(wanted)
  made.set(key, making)
  return making
}

async function make({ urlOf, schemas }: Wanted): Promise<string> {
  const name = `m_${randomUUID().replaceAll('-', '')}`
  await using admin = open(urlOf('public'), 1)
  await admin.query(`create database ${name} template template0 ${ORDER} ${FAST}`)
  await using state = open(databaseUrl(urlOf, name), 1)
  await migrate(state, schemas)
  return name
}
