// The ledger as one CSV text, from the pages of the API.
export const CSV_PAGE = 1000
export const CSV_PAGES_MAX = 200

export type CsvQuery = Readonly<Record<string, string>>
export type CsvPage = {
  readonly text: string
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
}

/** All pages; each has the head, which only the first keeps. Undefined where there are more than CSV_PAGES_MAX. */
export async function readCsv(
  query: CsvQuery,
  pageOf: (query: CsvQuery) => Promise<CsvPage>,
): Promise<string | undefined> {
  const parts: string[] = []
  let cursor = ''
  while (parts.length < CSV_PAGES_MAX) {
    const { text, next } = await pageOf({
      ...query,
      limit: String(CSV_PAGE),
      ...(cursor !== '' && { cursor }),
    })
    parts.push(parts.length === 0 ? text : text.slice(text.indexOf('\n') + 1))
    if (next === null) return parts.join('')
    cursor = next
  }
  return undefined
}
