// ergon storage ls: the buckets, or the keys of one, with size and time.
import { ListBucketsCommand } from '@aws-sdk/client-s3'
import { print, printJson } from '#cli/output.ts'
import { pagesOf, type Listed } from '#cli/storage/objects.ts'
import { objectPlaceOf, printable, type ObjectPlace } from '#cli/storage/place.ts'
import { withSession, type Session } from '#cli/storage/session.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [address] }: CommandCall): Promise<void> {
  const json = options.json === true
  if (address === undefined)
    return await withSession(options, '', (session) => listBuckets(session, json))
  const place = objectPlaceOf(address)
  const delimiter = options['recursive'] === true ? undefined : '/'
  await withSession(options, place.bucket, (session) =>
    json ? printAll(session, place, delimiter) : printPages(session, place, delimiter),
  )
}

async function listBuckets({ s3, signal }: Session, json: boolean): Promise<void> {
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
async function printAll(session: Session, place: ObjectPlace, delimiter?: string): Promise<void> {
  const prefixes: string[] = []
  const objects: Listed[] = []
  for await (const page of pagesOf(session, place, delimiter)) {
    for (const prefix of page.prefixes) prefixes.push(prefix)
    for (const object of page.objects) objects.push(object)
  }
  printJson({ prefixes, objects })
}

const TIME_CELLS = 20
const SIZE_CELLS = 14

async function printPages(session: Session, place: ObjectPlace, delimiter?: string): Promise<void> {
  for await (const { prefixes, objects } of pagesOf(session, place, delimiter)) {
    for (const prefix of prefixes)
      print(`${' '.repeat(TIME_CELLS + SIZE_CELLS)}  ${printable(prefix)}`)
    for (const { key, size, modified } of objects)
      print(`${seconds(modified)}${String(size).padStart(SIZE_CELLS)}  ${printable(key)}`)
  }
}

const seconds = (time: string): string => time.replace(/\.\d+Z$/, 'Z').padEnd(TIME_CELLS)
