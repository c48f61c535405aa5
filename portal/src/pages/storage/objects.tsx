// The table of prefixes and objects.
import { Link } from '@tanstack/react-router'
import type { StoredObject } from '../../client/s3.ts'
import { bytesExact, bytesShort } from '../../figures/amounts.ts'
import { When } from '../../parts/when.tsx'
import { lastPart } from './place.ts'

export const Objects = (props: {
  readonly bucket: string
  readonly prefix: string
  readonly prefixes: readonly string[]
  readonly objects: readonly StoredObject[]
  readonly opened: string | undefined
}) => {
  const { bucket, prefix, prefixes, objects, opened } = props
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className="num">
            Size
          </th>
          <th scope="col" className="num wide-only">
            Changed
          </th>
        </tr>
      </thead>
      <tbody>
        {prefixes.map((below) => (
          <tr key={below} data-row>
            <td className="wrap-anywhere" colSpan={3}>
              <Link to="/storage" search={{ bucket, prefix: below } as never}>
                {lastPart(below)}
              </Link>
            </td>
          </tr>
        ))}
        {objects.map(({ key, bytes, modifiedAt }) => (
          <tr key={key} data-row aria-selected={key === opened}>
            <td className="wrap-anywhere">
              <Link to="/storage" search={{ bucket, prefix, object: key } as never}>
                {lastPart(key)}
              </Link>
              <span className="under">
                <When at={modifiedAt} />
              </span>
            </td>
            <td className="num" title={bytesExact(bytes)} data-copy={bytesExact(bytes)}>
              {bytesShort(bytes)}
            </td>
            <td className="num wide-only">
              <When at={modifiedAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
