import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A bot for gin-sim in Java, without any library: takes what melds, throws what counts most.
 *
 * <pre>
 * gin-sim tournament "cmd:java docs/bots/SimpleBot.java" simple
 * </pre>
 *
 * Compiled first (javac -d build docs/bots/SimpleBot.java, then "cmd:java -cp build SimpleBot")
 * it starts faster. What is said is described in docs/protocol.md. It keeps nothing between two
 * questions.
 */
public final class SimpleBot {
    private static final String RANKS = "A23456789TJQK";
    private static final String SUITS = "cdhs";

    /** One "name": value of a line; values are text, numbers, true, false or null. */
    private static final Pattern FIELD =
            Pattern.compile("\"(\\w+)\":(?:\"([^\"]*)\"|(null)|([^,}]*))");

    private SimpleBot() {}

    /** Reads a line of JSON; a value that is null is left out. */
    static Map<String, String> read(String line) {
        Map<String, String> fields = new HashMap<>();
        Matcher matcher = FIELD.matcher(line);
        while (matcher.find()) {
            if (matcher.group(3) == null) {
                fields.put(
                        matcher.group(1),
                        matcher.group(2) != null ? matcher.group(2) : matcher.group(4));
            }
        }
        return fields;
    }

    static Set<String> cards(String text) {
        Set<String> cards = new HashSet<>(List.of(text.split(" ")));
        cards.remove("");
        return cards;
    }

    static int rank(String card) {
        return RANKS.indexOf(card.charAt(0));
    }

    /** Whether a card would stand in a meld of a hand: a set or a run of three. */
    static boolean makesMeld(Set<String> hand, String card) {
        int same = 0;
        for (char suit : SUITS.toCharArray()) {
            String other = "" + card.charAt(0) + suit;
            if (!other.equals(card) && hand.contains(other)) {
                same++;
            }
        }
        if (same >= 2) {
            return true;
        }
        for (int low = Math.max(rank(card) - 2, 0); low <= Math.min(rank(card), 10); low++) {
            boolean all = true;
            for (int rank = low; rank < low + 3; rank++) {
                String other = "" + RANKS.charAt(rank) + card.charAt(1);
                all &= other.equals(card) || hand.contains(other);
            }
            if (all) {
                return true;
            }
        }
        return false;
    }

    /** Of the best discards one at random: all chance comes from the word that was sent. */
    static String throwsOf(Map<String, String> view) {
        List<String> best = new ArrayList<>(List.of(view.get("best_discards").split(" ")));
        // Never a card that it has thrown before, if there is another: that could go on for ever.
        List<String> fresh = new ArrayList<>(best);
        fresh.removeAll(cards(view.get("own_discards")));
        List<String> among = fresh.isEmpty() ? best : fresh;
        return among.get((int) (Long.parseLong(view.get("word")) % among.size()));
    }

    static String answer(Map<String, String> view) {
        switch (view.get("decision")) {
            case "draw":
                String[] allowed = view.get("allowed").split(" "); // take, and pass or draw
                boolean take = makesMeld(cards(view.get("hand")), view.get("upcard"));
                return take ? allowed[0] : allowed[1];
            case "discard":
                return throwsOf(view);
            default:
                return "knock";
        }
    }

    /** Answers hello and every decision, until it is told to quit. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = System.out;
        String line = in.readLine();
        while (line != null) {
            Map<String, String> message = read(line);
            String type = message.get("type");
            if (type.equals("hello")) {
                out.println("{\"type\":\"hello\",\"protocol\":1,\"name\":\"simple bot\"}");
            } else if (type.equals("decide")) {
                String said = "{\"id\":" + message.get("id") + ",\"answer\":\"" + answer(message) + "\"}";
                out.println(said);
            } else if (type.equals("quit")) {
                return;
            }
            out.flush();
            line = in.readLine();
        }
    }
}
