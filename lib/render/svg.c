/* SPDX-License-Identifier: MIT */
#include "render/svg.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

static void put_escaped(FILE *file, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		switch (text[i]) {
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '&':
			fputs("&amp;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		default:
			fputc(text[i], file);
		}
}

/* Bytes of the first `count` characters of UTF-8. */
static size_t bytes_of(const char *text, size_t count)
{
	size_t at = 0;
	while (text[at] && count--)
		do
			at++;
		while ((text[at] & 0xc0) == 0x80);
	return at;
}

static size_t characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

void svg_begin(FILE *file, double width, double height, const char *title)
{
	fprintf(file,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
	        "font-family=\"DejaVu Sans, Verdana, Helvetica, sans-serif\">\n<title>",
	        width, height, width, height);
	autofree char *clean = text_for_terminal(title);
	put_escaped(file, clean ? clean : "", clean ? strlen(clean) : 0);
	fputs("</title>\n", file);
}

void svg_end(FILE *file)
{
	fputs("</svg>\n", file);
}

void svg_box(FILE *file, double x, double y, double width, double height, const struct svg_style *style)
{
	fprintf(file,
	        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\" fill=\"%s\" stroke=\"%s\" "
	        "stroke-width=\"%.1f\"/>\n",
	        x, y, width, height, style->radius, style->fill, style->stroke ? style->stroke : "none",
	        style->stroke ? style->width : 0);
}

void svg_line(FILE *file, double x1, double y1, double x2, double y2, const char *color, double width)
{
	fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
	        x1, y1, x2, y2, color, width);
}

void svg_circle(FILE *file, double x, double y, double radius, const char *fill)
{
	fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y, radius, fill);
}

void svg_text(FILE *file, double x, double y, double room, const struct svg_font *font, const char *text)
{
	/* Wide enough for the usual sans-serif fonts: names, digits and hexadecimal are what is written. */
	double advance = font->size * (font->weight ? 0.64 : 0.59);
	autofree char *clean = text_for_terminal(text);
	if (!clean)
		return;
	size_t count = characters(clean), fits = room > 0 ? (size_t)(room / advance) : count;
	bool cut = count > fits;
	fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" fill=\"%s\"", x, y, font->size, font->color);
	if (font->weight)
		fprintf(file, " font-weight=\"%s\"", font->weight);
	if (font->anchor)
		fprintf(file, " text-anchor=\"%s\"", font->anchor);
	fputc('>', file);
	put_escaped(file, clean, cut ? bytes_of(clean, fits ? fits - 1 : 0) : strlen(clean));
	fputs(cut ? "…</text>\n" : "</text>\n", file);
}
