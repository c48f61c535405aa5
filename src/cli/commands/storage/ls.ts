// ergon storage ls: the buckets, or the keys of one, with size and time; with --versions all their versions.
import { ListBucketsCommand } from '@aws-sdk/client-s3'
import { print, printJson } from '#cli/output.ts'
import { pagesOf, type ListedEntry } from '#cli/storage/objects.ts'
import { objectPlaceOf, printable, type ObjectPlace } from '#cli/storage/place.ts'
import { withSession, type TransferSession } from '#cli/storage/session.ts'
import { versionPagesOf, type ListedVersion } from '#cli/storage/versions.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [address] }: CommandCall): Promise<void> {
  const json = options.json === true
  if (address === undefined)
    return await withSession(options, { bucket: '' }, (session) => listBuckets(session, json))
  const place = objectPlaceOf(address)
  const delimiter = options['recursive'] === true ? undefined : '/'
  const versions = options['versions'] === true
  const printEach = versions ? printVersionPages : printPages
  const printOne = versions ? printAllVersions : printAll
  await withSession(options, { bucket: place.bucket }, (session) =>
    (json ? printOne : printEach)(session, place, delimiter),
  )
}

async function listBuckets({ s3, signal }: TransferSession, json: boolean): Promise<void> {
  const buckets: { name: string; region: string; created: string }[] = []
  let token: string | undefined
  do {
    const asked = new ListBucketsCommand({ ContinuationToken: token })
    const answer = await s3.send(asked, { abortSignal: signal })
    for (const { Name = '', BucketRegion = '', CreationDate } of answer.Buckets ?? [])
      buckets.push({ name: Name, region: BucketRegion, created: CreationDate?.toISOString() ?? '' })
    token = answer.ContinuationToken
  } while (token !== undefined)
  if (json) return printJson(buckets)
  for (const { name, created } of buckets) print(`${seconds(created)}  s3://${name}`)
}

/** One JSON value takes every page. */
async function printAll(
  session: TransferSession,
  place: ObjectPlace,
  delimiter?: string,
): Promise<void> {
  const prefixes: string[] = []
  const objects: ListedEntry[] = []
  for await (const page of pagesOf(session, place, delimiter)) {
    for (const prefix of page.prefixes) prefixes.push(prefix)
    for (const object of page.objects) objects.push(object)
  }
  printJson({ prefixes, objects })
}

async function printAllVersions(session: TransferSession, place: ObjectPlace, delimiter?: string) {
  const prefixes: string[] = []
  const versions: object[] = []
  for await (const page of versionPagesOf(session, place, delimiter)) {
    for (const prefix of page.prefixes) prefixes.push(prefix)
    for (const version of page.versions) versions.push(versionJson(version))
  }
  printJson({ prefixes, versions })
}

const versionJson = ({ versionId, isLatest, isMarker, ...more }: ListedVersion): object => ({
  ...more,
  version_id: versionId,
  is_latest: isLatest,
  delete_marker: isMarker,
})

const TIME_CELLS = 20
const SIZE_CELLS = 14
const VERSION_ID_CELLS = 32
const VERSION_CELLS = TIME_CELLS + SIZE_CELLS + 2 + VERSION_ID_CELLS

async function printPages(
  session: TransferSession,
  place: ObjectPlace,
  delimiter?: string,
): Promise<void> {
  for await (const { prefixes, objects } of pagesOf(session, place, delimiter)) {
    for (const prefix of prefixes)
      print(`${' '.repeat(TIME_CELLS + SIZE_CELLS)}  ${printable(prefix)}`)
    for (const { key, size, modified } of objects)
      print(`${seconds(modified)}${String(size).padStart(SIZE_CELLS)}  ${printable(key)}`)
  }
}

async function printVersionPages(session: TransferSession, place: ObjectPlace, delimiter?: string) {
  for await (const { prefixes, versions } of versionPagesOf(session, place, delimiter)) {
    for (const prefix of prefixes) print(`${' '.repeat(VERSION_CELLS)}  ${printable(prefix)}`)
    for (const { key, size, modified, versionId, isMarker } of versions) {
      const what = (isMarker ? 'delete marker' : String(size)).padStart(SIZE_CELLS)
      print(`${seconds(modified)}${what}  ${versionId.padEnd(VERSION_ID_CELLS)}  ${printable(key)}`)
    }
  }
}

const seconds = (time: string): string => time.replace(/\.\d+Z$/, 'Z').padEnd(TIME_CELLS)
