// The table of prefixes and objects.
import { Link } from '@tanstack/react-router'
import type { StoredObject } from '#console/client/s3.ts'
import { bytesExact, bytesShort } from '#console/figures/amounts.ts'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { When } from '#console/parts/time/when.tsx'
import { lastPart, linkTo } from './place.ts'

type Entry = { readonly prefix: string } | { readonly object: StoredObject }

const nameOf = (entry: Entry): string => ('prefix' in entry ? entry.prefix : entry.object.key)
const objectOf = (entry: Entry): StoredObject | undefined =>
  'prefix' in entry ? undefined : entry.object

export function Objects(props: {
  readonly bucket: string
  readonly prefix: string
  readonly prefixes: readonly string[]
  readonly objects: readonly StoredObject[]
  readonly opened: string | undefined
}) {
  const { bucket, prefix, prefixes, objects, opened } = props
  const name: Column<Entry> = {
    title: 'Name',
    className: 'wrap-anywhere',
    cell: (entry) => (
      <>
        <Link
          {...linkTo(
            'prefix' in entry
              ? { bucket, prefix: entry.prefix }
              : { bucket, prefix, object: entry.object.key },
          )}
        >
          {lastPart(nameOf(entry))}
        </Link>
        <span className="under">
          <Changed entry={entry} />
        </span>
      </>
    ),
  }
  return (
    <Table
      rows={[
        ...prefixes.map((below) => ({ prefix: below })),
        ...objects.map((object) => ({ object })),
      ]}
      keyOf={nameOf}
      columns={[name, ...FACTS]}
      isSelected={(entry) => objectOf(entry)?.key === opened && opened !== undefined}
    />
  )
}

const FACTS: readonly Column<Entry>[] = [
  {
    title: 'Size',
    className: 'num',
    cell: (entry) => {
      const bytes = objectOf(entry)?.bytes
      return bytes !== undefined && bytesShort(bytes)
    },
    exact: (entry) => {
      const bytes = objectOf(entry)?.bytes
      return bytes === undefined ? undefined : bytesExact(bytes)
    },
  },
  { title: 'Changed', className: 'num wide-only', cell: (entry) => <Changed entry={entry} /> },
]

function Changed({ entry }: { readonly entry: Entry }) {
  const at = objectOf(entry)?.modifiedAt
  return at === undefined ? null : <When at={at} />
}
