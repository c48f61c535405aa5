/** What `standing` asks of its product: minutes of a second, at 1 W for each MB. */
export const MINUTE_S = 1
export const MILLIWATTS_PER_TB = 1_000_000_000
