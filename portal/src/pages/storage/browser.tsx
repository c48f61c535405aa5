// What is in a bucket below a prefix: prefixes first, then objects. Files are dropped anywhere on it.
import { Link } from '@tanstack/react-router'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Head } from '#console/shell/head.tsx'
import { DropZone, UploadButton } from './drop-zone.tsx'
import { copyCommand } from './link.ts'
import { Opened } from './object-panel.tsx'
import { Objects } from './objects.tsx'
import { linkTo, shown, stepsOf, useGo, usePlace } from './place.ts'
import { RemoveBucket } from './remove-bucket.tsx'
import { UploadList } from './upload-list.tsx'
import { useObjects } from './use-storage.ts'
import { useUploads } from './use-uploads.ts'

export function Browser({ bucket }: { readonly bucket: string }) {
  const { prefix = '', object } = usePlace()
  const go = useGo()
  const query = useObjects(bucket, prefix)
  const uploads = useUploads(bucket)
  const add = (files: readonly File[]) => uploads.add(files, prefix)
  const pages = query.data?.pages ?? []
  const prefixes = pages.flatMap((page) => page.prefixes)
  const objects = pages.flatMap(({ data }) => data)
  const isEmpty = prefixes.length + objects.length === 0
  return (
    <>
      <Head title={bucket} crumb={<Crumbs bucket={bucket} prefix={prefix} />}>
        <UploadButton onFiles={add} />
      </Head>
      <div className={object === undefined ? 'storage' : 'storage opened'}>
        <DropZone onFiles={add}>
          <UploadList uploads={uploads} />
          <Loaded query={query} what="the list of objects">
            {() =>
              isEmpty ? (
                <Empty
                  title={prefix === '' ? 'This bucket is empty' : 'Nothing below this prefix'}
                  command={copyCommand(bucket, prefix)}
                >
                  Drop files here, or send them with any client of S3.
                </Empty>
              ) : (
                <Objects {...{ bucket, prefix, prefixes, objects }} opened={object} />
              )
            }
          </Loaded>
          <MoreRows query={query} label="More objects" />
          {isEmpty && prefix === '' && query.data !== undefined && <RemoveBucket bucket={bucket} />}
        </DropZone>
        {object !== undefined && (
          <Opened
            key={object}
            place={{ bucket, key: object }}
            listed={objects.find(({ key }) => key === object)}
            onClose={() => go({ bucket, prefix })}
          />
        )}
      </div>
    </>
  )
}

const Crumbs = ({ bucket, prefix }: { readonly bucket: string; readonly prefix: string }) => (
  <span className="wrap-anywhere">
    <Link {...linkTo({})}>Storage</Link> / <Link {...linkTo({ bucket })}>{bucket}</Link>
    {stepsOf(prefix).map(({ name, to }) => (
      <span key={to}>
        {' / '}
        <Link {...linkTo({ bucket, prefix: to })}>{name === '' ? '(no name)' : shown(name)}</Link>
      </span>
    ))}
  </span>
)
