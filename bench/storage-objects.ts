// The cost of objects in the state alone: puts of 4 KiB into the row with 32 in flight, and pages of 1000 keys of a
// small and a large bucket. `node bench/storage-objects.ts [keys]`; fsync is on.
// CPU on 2 cores with a load of 25 at 1 M keys: a put 0.8 ms in the server and 0.3 here, a read 0.5 ms. A page of 1000
// keys took 4 ms (versions too), a page of 1000 prefixes 26.
import { readFileSync } from 'node:fs'
import { openTestUrl } from '../src/postgres/testing-url.ts'
import { inlineObject, makeBucket, openStore, readVersion } from '../src/objects/store.fixture.ts'

const KEYS = Number(process.argv[2] ?? 20_000)
const PUTS = 2000
const IN_FLIGHT = 32

await using server = await openTestUrl({ shared_buffers: '128MB', max_wal_size: '512MB' })
await using store = await openStore(server.of, IN_FLIGHT)
const bucket = await makeBucket(store, 'bench')
const object = inlineObject('x'.repeat(4096))

/** CPU of the server's processes. */
async function serverCpuMs(): Promise<number> {
  const { rows } = await store.state.query<{ pid: number }>('select pid from pg_stat_activity')
  return rows.reduce((sum, { pid }) => {
    const [ns] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return sum + Number(ns) / 1e6
  }, 0)
}

async function inFlight(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (let n = next++; n < count; n = next++) await work(n)
    }),
  )
}

async function timed(name: string, count: number, work: () => Promise<unknown>): Promise<void> {
  const cpu = process.cpuUsage()
  const [before, from] = [await serverCpuMs(), performance.now()]
  await work()
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(cpu)
  const own = ((user + system) / 1000 / count).toFixed(3)
  const theirs = (((await serverCpuMs()) - before) / count).toFixed(3)
  process.stdout.write(
    `${name}: ${((count * 1000) / ms).toFixed(0)}/s, ${(ms / count).toFixed(2)} ms each, CPU ${own} ms here, ${theirs} ms in the server\n`,
  )
}

await inFlight(500, (n) => store.objects.put(bucket, `warm/${n}`, object))
await timed('put 4 KiB, new keys', PUTS, () =>
  inFlight(PUTS, (n) => store.objects.put(bucket, `new/${n}`, object)),
)
await timed('put 4 KiB, same keys', PUTS, () =>
  inFlight(PUTS, (n) => store.objects.put(bucket, `new/${n}`, object)),
)
await timed('read 4 KiB', PUTS, () =>
  inFlight(PUTS, (n) => readVersion(store, bucket, { key: `new/${n}` })),
)
await timed('delete', PUTS / 2, () =>
  inFlight(PUTS / 2, (n) =>
    store.objects.delete(bucket, [{ key: `new/${n}` }], { bypassGovernance: false }),
  ),
)
await timed('delete in batches of 1000', 1000, () =>
  inFlight(1, (n) =>
    store.objects.delete(
      bucket,
      Array.from({ length: 1000 }, (_, k) => ({ key: `new/${1000 + 1000 * n + k}` })),
      { bypassGovernance: false },
    ),
  ),
)

const large = await makeBucket(store, 'large')
const BATCH = 50_000
for (let from = 1; from <= KEYS; from += BATCH)
  await store.state.query(
    `insert into object_versions (bucket, key, seq, version_id, is_latest, size, etag, owner, modified_at, inline)
     select $1, format('d%s/k%s', lpad((n / 100)::text, 6, '0'), lpad(n::text, 9, '0')), nextval('object_seq'),
       'null', true, 10, md5(n::text), 'acct_a', now(), '\\x00' from generate_series($2::int, $3::int) n`,
    [large.id, from, Math.min(from + BATCH - 1, KEYS)],
  )
// As the puts of these keys would have made them.
await store.state.query(
  `insert into object_folders (bucket, parent, name)
   select $1::int, f.parent, f.name from generate_series(0, $2::int) n,
     format('d%s/', lpad(n::text, 6, '0')) folder, lateral (values ('', folder), (folder, '')) f (parent, name)`,
  [large.id, Math.floor(KEYS / 100)],
)
await store.state.query('analyze object_versions, object_folders')
const page = { prefix: '', delimiter: '', after: '', limit: 1000 }
const middle = `d${String(Math.floor(KEYS / 200)).padStart(6, '0')}/`
const pages = {
  flat: page,
  'flat, middle': { ...page, after: middle },
  prefixes: { ...page, delimiter: '/' },
  'flat with delimiter': { ...page, delimiter: '|', after: middle },
}
for (const [name, query] of Object.entries(pages)) {
  await store.listings.objects(large, query)
  await timed(`list ${KEYS}, ${name}`, 20, async () => {
    for (let n = 0; n < 20; n++) await store.listings.objects(large, query)
  })
}
await timed(`versions ${KEYS}`, 20, async () => {
  for (let n = 0; n < 20; n++) await store.listings.versions(large, { ...page, after: middle })
})
