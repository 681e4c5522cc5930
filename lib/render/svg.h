/* SPDX-License-Identifier: MIT */
/* Elements of a drawing in SVG 1.1, written one by one. Text is escaped and cut to the room that it has. */
#ifndef RDMADIAG_RENDER_SVG_H
#define RDMADIAG_RENDER_SVG_H

#include <stdio.h>

struct svg_style {
	const char *fill, *stroke;
	double width; /* of the stroke */
	double radius;
};

struct svg_font {
	double size;
	const char *color, *weight, *anchor; /* "start", "middle", "end" */
};

void svg_begin(FILE *file, double width, double height, const char *title);
void svg_end(FILE *file);
void svg_box(FILE *file, double x, double y, double width, double height, const struct svg_style *style);
void svg_line(FILE *file, double x1, double y1, double x2, double y2, const char *color, double width);
void svg_circle(FILE *file, double x, double y, double radius, const char *fill);
/* `room`: width that the text may take, it ends in "…" where it is longer; 0: any. */
void svg_text(FILE *file, double x, double y, double room, const struct svg_font *font, const char *text);

#endif
