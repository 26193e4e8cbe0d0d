/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef SWLBR_EDGEPROFILE_ARCS_FORMAT_H
#define SWLBR_EDGEPROFILE_ARCS_FORMAT_H

/* The arcs file's text; Documentation/arcs.txt says what each column is. */
#define ARCS_HEADER  "kind\tbinary\tfrom\tto\tnr\tmispredicted\tcycles\tsource"
#define ARCS_COLUMNS 8

#endif
