// A database with pgvector: notes are embedded by the service, stored, and found by meaning.
//   ergon db create notes
//   DATABASE_URL=$(ergon db url notes) node_modules/.bin/node examples/database.ts
import OpenAI from 'openai'
import pg from 'pg'

const MODEL = 'all-minilm-l6-v2'
const NOTES = ['The cat sleeps on the sofa', 'Interest rates rose again', 'A recipe for bread']

const { ERGON_TOKEN, ERGON_BASE_URL = 'http://localhost:8080', DATABASE_URL } = process.env
if (ERGON_TOKEN === undefined || DATABASE_URL === undefined)
  throw new TypeError('set ERGON_TOKEN and DATABASE_URL')
const openai = new OpenAI({ apiKey: ERGON_TOKEN, baseURL: `${ERGON_BASE_URL}/v1` })

async function embed(input: string): Promise<string> {
  const { data } = await openai.embeddings.create({ model: MODEL, input, encoding_format: 'float' })
  return JSON.stringify(data[0]?.embedding)
}

const client = new pg.Client({
  // The certificate of a node of one's own: `require` of libpq accepts it, that of node-postgres does not.
  connectionString: `${DATABASE_URL}&uselibpqcompat=true`,
  enableChannelBinding: true,
})
await client.connect()
await client.query('create extension if not exists vector')
await client.query(
  'create table if not exists notes (body text primary key, embedding vector(384))',
)
await client.query(
  'create index if not exists nearest on notes using hnsw (embedding vector_cosine_ops)',
)
for (const body of NOTES)
  await client.query('insert into notes values ($1, $2) on conflict do nothing', [
    body,
    await embed(body),
  ])
const { rows } = await client.query<{ body: string }>(
  'select body from notes order by embedding <=> $1 limit 1',
  [await embed('a pet that rests')],
)
console.log(rows[0]?.body)
await client.end()
