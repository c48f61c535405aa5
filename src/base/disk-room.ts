// Room of the disk that one pull or restore reserves for its files, so that several do not pass the limit of the disk together.

export interface DiskRoom extends AsyncDisposable {
  /** Reserves so many bytes more. Resolves with false where the disk has no room for them. */
  reserve(bytes: number): Promise<boolean>
  /** Files have taken so many bytes of the disk, which are reserved no more. */
  readonly wrote: (bytes: number) => void
  /** Gives back what is reserved. */
  give(): Promise<void>
}
