import { z } from 'zod'

/** The query parameter of every route whose answers are published by jobs; spread like `AsOfQuery`. */
export const KnownAtQuery = {
  known_at: z
    .string()
    .optional()
    .meta({
      description:
        'Answers with what this service had published by then, and with nothing that it learned later; in the formats of `as_of`, ' +
        'which is the same instant if it is omitted. Without it, the newest revision is returned, whenever it was published',
      examples: ['2026-07-01T12:00:00Z'],
    }),
}

/** The echo of `known_at` in answers that contain it only if it was requested. */
export const KnownAtEcho = z.iso
  .datetime()
  .optional()
  .meta({ description: 'The requested time of knowledge; only if it was requested' })

/** The fields of an answer that say when it was published; spread into its shape. */
export const publicationShape = {
  published_at: z.iso.datetime().meta({
    description: 'When this service published it, by its own clock; later than computed_at if jobs had to catch up',
  }),
  revision: z.int().meta({
    description: 'Increases when figures for the same time are published again, after a reorganization or a backfill',
  }),
  is_newest_revision: z
    .boolean()
    .nullable()
    .meta({ description: 'true without known_at; null with it, since that only became known later' }),
  known_at: KnownAtEcho,
}

/** Those fields of a published row. */
export const publicationOf = (
  { published_at, revision }: { published_at: Date; revision: number },
  knownAt: Date | null,
) => ({ published_at: published_at.toISOString(), revision, is_newest_revision: knownAt === null ? true : null })

/** The field of a list's entry that says when it was published. */
export const AnnouncedAt = z.iso.datetime().nullable().meta({
  description:
    'When the newest event about it was published, which is long after it if a backfill found it; null if none was, or if it was taken back and is not announced again yet',
})

/** Its value. */
export const announcedAtOf = (time: Date | null): string | null => (time === null ? null : time.toISOString())
