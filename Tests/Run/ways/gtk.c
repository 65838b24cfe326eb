/* A window with a button. Once it is on the screen the program prints a line and its process, and
 * presses the button, whose callback dies in the way of the first argument, or ends the program. */
#define G_LOG_DOMAIN "Notes"
#include <gtk/gtk.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *way;
struct note {
    int saved;
} *volatile opened;

static void save(GtkButton *button, gpointer application)
{
    (void)button;
    if (!strcmp(way, "error"))
        g_error("no room for %d notes", 7);
    if (!strcmp(way, "assert"))
        g_assert(opened != NULL);
    if (!strcmp(way, "fault"))
        opened->saved = 1;
    g_application_quit(application);
}

static gboolean press(gpointer button)
{
    printf("on the screen\n%d\n", (int)getpid());
    fflush(stdout);
    gtk_button_clicked(button);
    return G_SOURCE_REMOVE;
}

static gboolean shown(GtkWidget *window, GdkEvent *event, gpointer button)
{
    (void)window, (void)event;
    g_idle_add(press, button);
    return FALSE;
}

static void activate(GtkApplication *application, gpointer nothing)
{
    GtkWidget *window = gtk_application_window_new(application), *button = gtk_button_new_with_label("Save");
    (void)nothing;
    g_signal_connect(button, "clicked", G_CALLBACK(save), application);
    g_signal_connect(window, "map-event", G_CALLBACK(shown), button);
    gtk_container_add(GTK_CONTAINER(window), button);
    gtk_widget_show_all(window);
}

int main(int count, char **arguments)
{
    way = count > 1 ? arguments[1] : "";
    GtkApplication *application = gtk_application_new("org.example.notes", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    g_application_run(G_APPLICATION(application), 0, NULL);
    return 3;
}
