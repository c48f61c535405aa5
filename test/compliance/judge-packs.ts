// The judgement of evidence packs once all is quiet. Each is made, or has failed with a reason. Its one file agrees with
// the ledger and holds for those who check it. Nothing is left of deleted packs and accounts.
import { buffer } from 'node:stream/consumers'
import { messageOf, present } from '#base/errors.ts'
import { createFsStore } from '#blobs/fs-store.ts'
import type { BlobStore } from '#blobs/blob.ts'
import type { MemoryDisk } from '#blobs/memory-disk.fixture.ts'
import { SHARDS } from '#blobs/blob.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import { collectGarbage } from '#objects/upkeep/collect-garbage.ts'
import { savePlace } from '#objects/upkeep/place.ts'
import { sweepOrphans } from '#objects/upkeep/sweep-orphans.ts'
import { verifyPack } from '#tlog/evidence/verify.mjs'
import { filesOf, readPack, textIn, type PackCopy } from './pack-copy.ts'
import { FOLDER, quiet } from './sim-builder.ts'
import type { SimWorld } from './sim-process.ts'

export type AskedPack = {
  readonly id: string
  readonly account: string
  readonly from: Date
  readonly to: Date
  readonly ceilingNj: bigint
  readonly askedMs: number
  isDeleted: boolean
}
export type SimTransfer = { readonly account: string; readonly at: Date; readonly amount: bigint }

export type Judged = {
  readonly world: SimWorld
  readonly disk: MemoryDisk
  readonly asked: readonly AskedPack[]
  readonly transfers: readonly SimTransfer[]
  /** Accounts that asked for their deletion, which is over. */
  readonly gone: ReadonlySet<string>
  /** Packs that ended before are kept no longer. */
  readonly expiredBeforeMs: number
  /** Processes that worked at once: each may bill what a pack may cost. */
  readonly atOnce: bigint
}

type PackRow = {
  readonly id: string
  readonly account: string
  readonly status: string
  readonly reason: string | null
  readonly blob: string | null
  readonly manifest: string | null
  readonly location: string
  readonly size: number
  readonly checksum: string
}

/** Removes what a sweep of each hour would have removed by now; `hides` is a sweep that misses files. */
export async function sweepFiles(
  { world: { state, schedule }, disk }: Pick<Judged, 'world' | 'disk'>,
  hides: boolean,
): Promise<void> {
  const store = await openStore(disk)
  const clock = { wallMs: () => schedule.wallMs, monotonicMs: () => schedule.nowMs }
  const { signal } = new AbortController()
  for (const [nth, shard] of SHARDS.entries()) {
    if ((await filesIn(disk, shard)).length === 0 || hides) continue
    await savePlace(state, `sweep:${store.location}`, SHARDS.at(nth - 1))
    await sweepOrphans({ state, store, clock }, { signal, ageMs: 0, keptMs: 0 })
  }
  await collectGarbage({ state, store }, { limit: 1000, signal, graceMs: -60_000 })
}

async function filesIn(disk: MemoryDisk, shard: string): Promise<string[]> {
  const names: string[] = []
  for await (const name of disk.names(`${FOLDER}/${shard}`)) names.push(name)
  return names
}

const openStore = (disk: MemoryDisk): Promise<BlobStore> =>
  createFsStore({
    folder: FOLDER,
    location: 'fs',
    log: quiet,
    clock: { wallMs: () => 0, monotonicMs: () => 0 },
    disk,
  })

export async function judgePacks(judged: Judged): Promise<string[]> {
  const { world, disk, asked, gone } = judged
  const { rows } = await world.state.query<PackRow>(
    `select p.id, p.account, p.status, p.reason, b.id as blob, p.manifest_sha256 as manifest, b.location,
       b.size::float8, b.checksum
     from evidence_packs p left join blobs b on b.id = p.blob`,
  )
  const told = await eventsOf(world)
  const faults: string[] = []
  for (const { id, account } of rows) {
    if (!asked.some((one) => one.id === id)) faults.push(`${id} was never asked for`)
    if (gone.has(account)) faults.push(`${id} is of a deleted account`)
  }
  const store = await openStore(disk)
  for (const one of asked) {
    const row = rows.find(({ id }) => id === one.id)
    const events = told.get(one.id) ?? 0
    const note = (what: string) => faults.push(`${one.id} of ${one.account} ${what}`)
    if (!gone.has(one.account) && events !== (row?.status === 'ready' ? 1 : 0))
      if (row !== undefined || events > 1) note(`was told ${events} times`)
    for (const fault of faultsOfBill(judged, one)) note(fault)
    const isGone = one.isDeleted || gone.has(one.account)
    if (row === undefined && !isGone && one.askedMs >= judged.expiredBeforeMs) note('is lost')
    if (row === undefined) continue
    if (one.isDeleted) note('was deleted and is there')
    if (row.status === 'failed' && !row.reason) note('failed without a reason')
    if (row.status !== 'ready' && row.status !== 'failed') note(`is ${row.status} for ever`)
    if (row.status === 'ready')
      for (const fault of await faultsOfFile(judged, one, { row, store })) note(fault)
  }
  return [...faults, ...(await faultsOfFiles(disk, rows, world))]
}

/** By the pack; the data of events of deleted accounts are erased. */
async function eventsOf({ state }: SimWorld): Promise<ReadonlyMap<string, number>> {
  const { rows } = await state.query<{ pack: string; count: number }>(
    `select data ->> 'pack_id' as pack, count(*)::int as count from events
     where type = 'compliance.evidence_ready' group by 1`,
  )
  return new Map(rows.map(({ pack, count }) => [pack, count]))
}

function faultsOfBill({ world, atOnce }: Judged, pack: AskedPack): string[] {
  const resource = chargedResource(pack.id)
  const billed = world.charges.filter((charge) => charge.resource === resource)
  const strange = billed.filter(({ account }) => account !== pack.account)
  const sum = billed.reduce((all, { energy_nj: energy }) => all + BigInt(energy), 0n)
  return [
    ...strange.map(({ account }) => `is billed to ${account}`),
    ...(sum > pack.ceilingNj * atOnce ? [`cost ${sum} nJ, and at most ${pack.ceilingNj}`] : []),
  ]
}

async function faultsOfFile(
  { world, transfers }: Judged,
  pack: AskedPack,
  { row, store }: { readonly row: PackRow; readonly store: BlobStore },
): Promise<string[]> {
  if (row.blob === null) return ['has no file']
  try {
    const blob = { ...row, id: row.blob }
    const { signal } = new AbortController()
    const copy = await readPack(await buffer(await store.get(blob, { signal })))
    await verifyPack(filesOf(copy), { keys: JSON.stringify(world.log.keys()) })
    return faultsOfContent(copy, pack, { world, transfers, manifest: row.manifest })
  } catch (error) {
    return [`has a file that does not hold: ${messageOf(error)}`]
  }
}

const sumOf = (charges: readonly Charge[], key: 'energy_nj' | 'charge_pusd') =>
  charges.reduce((sum, charge) => sum + BigInt(charge[key]), 0n)

/** The file beside what was journaled. */
function faultsOfContent(
  copy: PackCopy,
  { id, account, from, to }: AskedPack,
  {
    world,
    transfers,
    manifest,
  }: Pick<Judged, 'world' | 'transfers'> & { readonly manifest: string | null },
): string[] {
  const own = world.charges.filter((charge) => charge.account === account)
  const before = own.filter((charge) => new Date(charge.to) < from)
  const wanted = own.filter((charge) => {
    const at = new Date(charge.to)
    return at >= from && at < to
  })
  const came = transfers.filter((one) => one.account === account && one.at < from)
  const summary = JSON.parse(textIn(copy, 'summary.json')) as Record<string, string> & {
    ledger: Record<string, string>
  }
  const listed = textIn(copy, 'ledger.csv')
    .split(/\r?\n/)
    .map((line) => line.split(','))
    .filter(([, , kind]) => kind === 'charge')
    .map(([charge = '']) => charge)
  const opening = came.reduce((sum, { amount }) => sum + amount, 0n) - sumOf(before, 'charge_pusd')
  const signed = own.filter((charge) => charge.subject_sha256 === manifest)
  const same = (what: string, found: unknown, due: unknown) =>
    String(found) === String(due) ? [] : [`has ${what} ${String(found)}, not ${String(due)}`]
  return [
    ...same('the id', summary['pack'], id),
    ...same(
      'charges',
      listed.toSorted().join(),
      wanted
        .map((one) => one.id)
        .toSorted()
        .join(),
    ),
    ...same('energy', summary['energy_nj'], sumOf(wanted, 'energy_nj')),
    ...same('money', summary['charge_pusd'], sumOf(wanted, 'charge_pusd')),
    ...same('the opening', summary.ledger['opening_pusd'], opening),
    ...(signed.length === 0 ? ['is signed by no charge'] : []),
  ]
}

/** Files and rows of blobs are those of the packs. */
async function faultsOfFiles(
  disk: MemoryDisk,
  rows: readonly PackRow[],
  { state }: SimWorld,
): Promise<string[]> {
  const wanted = rows.flatMap(({ blob }) => (blob === null ? [] : [blob])).toSorted()
  const files: string[] = []
  for (const shard of SHARDS) files.push(...(await filesIn(disk, shard)))
  const blobs = await state.query<{ id: string }>('select id from blobs')
  const same = (what: string, found: readonly string[]) =>
    found.toSorted().join() === wanted.join()
      ? []
      : [`${what} ${found.toSorted().join()} are not of ${wanted.join()}`]
  return [
    ...same('the files', files),
    ...same(
      'the blobs',
      blobs.rows.map(({ id }) => id),
    ),
  ]
}

/** The first one of a list that has one. */
export const anyOf = <Item>(list: readonly Item[], nth: number): Item =>
  present(list[nth % list.length], 'a list with items')
