// A preview that runs nothing: pictures as pictures from a presigned address of the storage's own origin, texts as text.
// Everything else, pages and drawings with scripts too, is text or is not shown.
import { useQuery } from '@tanstack/react-query'
import { call } from '#console/client/call.ts'
import { readText, type Place } from '#console/client/s3.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { lastPart } from './place.ts'

const PICTURES = /\.(png|jpe?g|gif|webp|avif|svg|ico)$/i
const TEXTS =
  /\.(txt|md|csv|tsv|json|jsonl|xml|html?|css|m?[jt]sx?|py|go|rs|sh|sql|ya?ml|toml|log)$/i
const TEXT_BYTES_MAX = 16_384
const PICTURE_BYTES_MAX = 20_000_000n
const PICTURE_S = 300

export function Preview({ place, bytes }: { readonly place: Place; readonly bytes: bigint }) {
  if (bytes === 0n) return <p className="small muted">It is empty.</p>
  if (PICTURES.test(place.key) && bytes <= PICTURE_BYTES_MAX) return <Picture place={place} />
  if (TEXTS.test(place.key)) return <Text place={place} bytes={bytes} />
  return <p className="small muted">There is no preview of files like this one.</p>
}

function Picture({ place }: { readonly place: Place }) {
  const query = useQuery({
    queryKey: ['picture', place],
    queryFn: ({ signal }) =>
      call('POST /v1/storage/presigned', { body: { ...place, expires_s: PICTURE_S }, signal }),
    staleTime: (PICTURE_S * 1000) / 2,
  })
  return (
    <Loaded query={query} what="the picture">
      {({ url }) => (
        <img
          className="preview"
          src={url}
          alt={`Preview of ${lastPart(place.key)}`}
          referrerPolicy="no-referrer"
        />
      )}
    </Loaded>
  )
}

function Text({ place, bytes }: { readonly place: Place; readonly bytes: bigint }) {
  const query = useQuery({
    queryKey: ['text', place, bytes.toString()],
    queryFn: ({ signal }) => readText(place, TEXT_BYTES_MAX, signal),
  })
  return (
    <Loaded query={query} what="the text">
      {(text) => (
        <figure>
          {/* A keyboard scrolls what is longer than the box. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre className="preview" tabIndex={0} aria-label={`Preview of ${lastPart(place.key)}`}>
            {text}
          </pre>
          {bytes > BigInt(TEXT_BYTES_MAX) && (
            <figcaption className="tiny">The first 16 KiB.</figcaption>
          )}
        </figure>
      )}
    </Loaded>
  )
}
